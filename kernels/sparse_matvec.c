// Sparse matrix times vector, rows compressed: bounds and subscripts are data. No static truth.
//
// irregular: sizes N = 40
//
// Rows are free of each other, whatever their lengths; a row adds up. x is read anywhere: no order makes it near.
//
// advice: run 60
#include "kernel.h"

KERNEL void multiply(int n, const int* start, const int* column, const double* value, const double* x, double* y) {
  // expect-advice: parallel_ops >= 95; suggests LF-PAR i; never LF-SKW; never LF-ICH; skew no; reuse 70..85
  // expect-advice -O1: obstacles BFA
  for (int i = 0; i < n; i++) {  // expect: parallel
    const int end = start[i + 1];  // B:
    // expect-advice: stride01 70..85
    for (int k = start[i]; k < end; k++) {  // expect: reduction(+)
      y[i] += value[k] * x[column[k]];  // S:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 40);
  int* const start = integers(n + 1, 9);
  int entries = 0;
  for (int i = 0; i <= n; i++) {
    const int in_row = start[i];
    start[i] = entries;
    entries += in_row;
  }
  double* const y = numbers(n);
  multiply(n, start, integers(entries, n), numbers(entries), numbers(n), y);
  print_sum(y, n);
  return 0;
}
