// A search that returns from the inner of two loops.
#include "counted.h"

enum { kMost = 1000 };
static int table[kMost][kMost];

KERNEL int find(int n, int key) {
  ENTER(1);
  for (int i = 0; i < n; i++) {
    ITERATE(1);
    ENTER(2);
    for (int j = 0; j < n; j++) {
      ITERATE(2);
      if (table[i][j] == key) return i * kMost + j;
    }
  }
  return -1;
}

int main(void) {
  int n = bound(31), keys = bound(25);
  long sum = 0;
  ENTER(3);
  for (int i = 0; i < n; i++) {
    ITERATE(3);
    ENTER(4);
    for (int j = 0; j < n; j++) {
      ITERATE(4);
      table[i][j] = (int)(noise((unsigned)(i * kMost + j)) % 499);
    }
  }
  ENTER(0);
  for (int key = 0; key < keys; key++) {
    ITERATE(0);
    sum += find(n, key * 23);
  }
  return print_loops(sum);
}
