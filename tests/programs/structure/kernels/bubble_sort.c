// Bubble sort: an outer loop that goes on as long as the inner one changes something.
#include "counted.h"

enum { kMost = 5000 };
static int values[kMost];

KERNEL void sort(int n) {
  int changed;
  ENTER_DO(0);
  do {
    changed = 0;
    ENTER(1);
    for (int i = 1; i < n; i++) {
      ITERATE(1);
      if (values[i - 1] > values[i]) {
        int value = values[i];
        values[i] = values[i - 1];
        values[i - 1] = value;
        changed = 1;
      }
    }
    n--;
    ITERATE_DO(0);
  } while (changed);
}

int main(void) {
  int n = bound(60);
  ENTER(2);
  for (int i = 0; i < n; i++) {
    ITERATE(2);
    values[i] = (int)(noise((unsigned)i) % 1000);
  }
  sort(n);
  return print_loops(values[n / 2]);
}
