// Do-while loops: one alone, one in another.
#include "counted.h"

KERNEL long reversed(long value) {
  long result = 0;
  ENTER_DO(0);
  do {
    result = result * 10 + value % 10;
    value /= 10;
    ITERATE_DO(0);
  } while (value != 0);
  return result;
}

int main(void) {
  long sum = 0;
  int i = bound(0), n = bound(150);
  ENTER_DO(1);
  do {
    sum += reversed(i * 37L) & 0xff;
    i++;
    ITERATE_DO(1);
  } while (i < n);
  return print_loops(sum);
}
