// Greatest common divisors of all pairs: a while loop inside two for loops.
#include "counted.h"

KERNEL long all_pairs(int n) {
  long sum = 0;
  ENTER(0);
  for (int i = 1; i <= n; i++) {
    ITERATE(0);
    ENTER(1);
    for (int j = 1; j <= n; j++) {
      ITERATE(1);
      int a = i, b = j;
      ENTER(2);
      while (b != 0) {
        ITERATE(2);
        int rest = a % b;
        a = b;
        b = rest;
      }
      sum += a;
    }
  }
  return sum;
}

int main(void) { return print_loops(all_pairs(bound(40))); }
