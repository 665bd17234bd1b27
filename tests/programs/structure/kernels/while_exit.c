// A while loop whose end depends on data: integer square roots by Newton's method.
#include "counted.h"

KERNEL long root(long value) {
  long guess = value;
  ENTER(1);
  while (guess * guess > value) {
    ITERATE(1);
    guess = (guess + value / guess) / 2;
  }
  return guess;
}

int main(void) {
  long total = 0;
  int n = bound(300);
  ENTER(0);
  for (int i = 1; i <= n; i++) {
    ITERATE(0);
    total += root(i * 37L);
  }
  return print_loops(total);
}
