// Loops made of goto, one inside the other: their line is that of the jump back.
#include "counted.h"

KERNEL long walk(int n) {
  long sum = 0;
  int i = 0, j;
  ENTER_DO(0);
outer:
  j = 0;
  ENTER_DO(1);
inner:
  sum += (i ^ j) & 7;
  j++;
  ITERATE_DO(1);
  if (j < n) goto inner;  // expect(clang-*): unclear
  i++;
  ITERATE_DO(0);
  if (i < n) goto outer;
  return sum;
}

int main(void) { return print_loops(walk(bound(45))); }
