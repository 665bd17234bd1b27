// Killed by SIGSEGV in the middle of a nest, five rows down and three columns in.
#include <stdio.h>

enum { kRows = 9, kColumns = 8, kRow = 5, kColumn = 3 };
static int cells[kRows][kColumns];

static __attribute__((noinline)) void store(int* where, int value) { *(volatile int*)where = value; }

static __attribute__((noinline)) void fill(void) {
  for (int i = 0; i < kRows; i++) {       // @rows
    for (int j = 0; j < kColumns; j++) {  // @columns
      store(i == kRow && j == kColumn ? (int*)8 : &cells[i][j], i + j);
    }
  }
}

int main(void) {
  printf("rows %d\ncells %d\n", kRow + 1, kRow * kColumns + kColumn + 1);
  fflush(stdout);
  fill();
  return 0;
}
