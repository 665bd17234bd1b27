// An outer loop around two inner loops, the second of which reads what the first wrote.
#include "counted.h"

enum { kMost = 5000 };
static int first[kMost], second[kMost];

KERNEL long alternate(int rounds, int n) {
  long sum = 0;
  ENTER(0);
  for (int round = 0; round < rounds; round++) {
    ITERATE(0);
    ENTER(1);
    for (int i = 0; i < n; i++) {
      ITERATE(1);
      first[i] = second[i] * 3 + round;
    }
    ENTER(2);
    for (int i = n - 1; i > 0; i--) {
      ITERATE(2);
      second[i] = first[i - 1] ^ first[i];
    }
    sum += second[n / 2];
  }
  return sum;
}

int main(void) {
  int rounds = bound(40), n = bound(47);
  return print_loops(alternate(rounds, n));
}
