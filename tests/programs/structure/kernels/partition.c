// Hoare's partition: a loop without a test at its top or at its end, around two do-while loops.
#include "counted.h"

enum { kMost = 5000 };
static int values[kMost];

KERNEL int partition(int n) {
  int pivot = values[n / 2], i = -1, j = n;
  ENTER(0);
  for (;;) {
    ITERATE(0);
    ENTER_DO(1);
    do {
      i++;
      ITERATE_DO(1);
    } while (values[i] < pivot);
    ENTER_DO(2);
    do {
      j--;
      ITERATE_DO(2);
    } while (values[j] > pivot);
    if (i >= j) return j;
    int value = values[i];
    values[i] = values[j];
    values[j] = value;
  }
}

int main(void) {
  int n = bound(190);
  ENTER(3);
  for (int i = 0; i < n; i++) {
    ITERATE(3);
    values[i] = (int)(noise((unsigned)i) % 300);
  }
  return print_loops(partition(n));
}
