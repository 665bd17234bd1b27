// A sparse matrix times a vector: the inner loop's bounds are loaded, some rows are empty.
#include "counted.h"

enum { kMost = 200, kEntries = 1200 };
static int row_start[kMost + 1], column[kEntries];
static double entry[kEntries], x[kMost], y[kMost];

KERNEL int build(int n, unsigned most) {
  int at = 0;
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    row_start[i] = at;
    x[i] = i;
    int length = (int)(noise((unsigned)i) % most);
    ENTER(1);
    for (int j = 0; j < length; j++) {
      ITERATE(1);
      column[at] = (i * 7 + j * 13) % n;
      entry[at++] = j + 1;
    }
  }
  row_start[n] = at;
  return at;
}

KERNEL void multiply(int n) {
  ENTER(2);
  for (int i = 0; i < n; i++) {
    ITERATE(2);
    double sum = 0;
    ENTER(3);
    for (int j = row_start[i]; j < row_start[i + 1]; j++) {
      ITERATE(3);
      sum += entry[j] * x[column[j]];
    }
    y[i] = sum;
  }
}

int main(void) {
  int n = bound(190);
  int entries = build(n, (unsigned)bound(6));
  multiply(n);
  return print_loops((long)y[n - 1] + entries);
}
