// Two loops that are one nest through a call; the callee's loop has as many iterations as its argument.
#include "counted.h"

static int values[100];

KERNEL long sum_of(int n) {
  long sum = 0;
  ENTER(1);
  for (int i = 0; i < n; i++) {
    ITERATE(1);
    sum += values[i] ^ i;
  }
  return sum;
}

KERNEL void fill(int n) {
  ENTER(2);
  for (int i = 0; i < n; i++) {
    ITERATE(2);
    values[i] = (int)(noise((unsigned)i) % 1000);
  }
}

int main(void) {
  int n = bound(90);
  long sum = 0;
  fill(n);
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    sum += sum_of(i);
  }
  return print_loops(sum);
}
