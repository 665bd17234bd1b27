// Loops that compilers turn into calls: setting to zero and copying.
#include "counted.h"

enum { kMost = 3000 };
static int from[kMost], to[kMost];

KERNEL void clear(int* values, int n) {
  ENTER(0);
  for (int i = 0; i < n; i++) {  // expect(gcc-O2 gcc-O3 clang-*): gone
    ITERATE(0);
    values[i] = 0;
  }
}

KERNEL void fill(int* values, int n) {
  ENTER(1);
  for (int i = 0; i < n; i++) {
    ITERATE(1);
    values[i] = (int)noise((unsigned)i);
  }
}

KERNEL void copy(int* restrict a, const int* restrict b, int n) {
  ENTER(2);
  for (int i = 0; i < n; i++) {  // expect(gcc-O2 gcc-O3 clang-*): gone
    ITERATE(2);
    a[i] = b[i];
  }
}

int main(void) {
  int n = bound(1500);
  fill(from, n);
  clear(to, n);
  copy(to, from, n / 2);
  return print_loops(to[n / 2 - 1] + to[n - 1]);
}
