// A loop that calls a function in its body.
#include "counted.h"

KERNEL int mixed(int a, int b) { return (a * 31 + b) ^ (b >> 2); }

KERNEL long sum_of_calls(int n) {
  long sum = 0;
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    sum += mixed(i, (int)sum & 0xffff);
  }
  return sum;
}

int main(void) { return print_loops(sum_of_calls(bound(900))); }
