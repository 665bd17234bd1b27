// Loops that stand beside each other, one of which does nothing but call a function that is inlined: a compiler leaves an
// instruction with the line of the call in the next loop.
#include "inputs.h"

enum { kSize = 24 };
static double u[kSize][kSize], w[kSize][kSize], z[kSize][kSize];

static void scan(const double* r, double* x) {
  FOR(int k = 1, k < kSize, k++) {  // expect: no
    x[k] = r[k] - 2 * x[k - 1];
  }
}

KERNEL void fill(const double* some) {
  FOR(int i = 0, i < kSize, i++) {    // expect: parallel
    FOR(int j = 0, j < kSize, j++) {  // expect: parallel
      u[i][j] = some[i + j * kSize];
    }
  }
}

KERNEL void scans_and_rows(void) {
  FOR(int j = 0, j < kSize, j++) {  // expect: parallel
    scan(u[j], w[j]);
  }
  FOR(int i = 1, i < kSize, i++) {    // expect: no
    FOR(int j = 0, j < kSize, j++) {  // expect: parallel
      z[i][j] = z[i - 1][j] + u[j][i] * w[i][j];
    }
  }
}

KERNEL void scans_and_columns(void) {
  FOR(int j = 0, j < kSize, j++) {  // expect: parallel
    scan(z[j], w[j]);
  }
  FOR(int i = 0, i < kSize, i++) {    // expect: parallel
    FOR(int j = 0, j < kSize, j++) {  // expect: parallel
      w[i][j] += u[j][i] * 3;
    }
  }
}

int main(int argc, char** argv) {
  const int size = size_of_input(argc, argv);
  seed_input(argc, argv);
  const double* const some = some_doubles(kSize * kSize, 1, size % 8 + 2);
  fill(some);
  scans_and_rows();
  scans_and_columns();
  show_doubles("rows", z[0], kSize * kSize);
  show_doubles("columns", w[0], kSize * kSize);
  return 0;
}
