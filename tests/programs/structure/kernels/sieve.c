// The sieve of Eratosthenes: the inner loop runs under a condition, with the outer counter as its step.
#include "counted.h"

enum { kMost = 3000 };
static char composite[kMost];

KERNEL void sieve(int n) {
  ENTER(0);
  for (int i = 2; i * i < n; i++) {
    ITERATE(0);
    if (composite[i]) continue;
    ENTER(1);
    for (int j = i * i; j < n; j += i) {
      ITERATE(1);
      composite[j] = 1;
    }
  }
}

KERNEL long count(int n) {
  long found = 0;
  ENTER(2);
  for (int i = 2; i < n; i++) {
    ITERATE(2);
    if (!composite[i]) found += i;
  }
  return found;
}

int main(void) {
  int n = bound(2900);
  sieve(n);
  return print_loops(count(n));
}
