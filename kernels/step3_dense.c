// A loop in steps of three writes, a dense one reads: the producer's counter is a third of the consumer's.
//
// static: sizes N = 40
// static: S[i] : 0 <= i and 3*i < N
// static:   order [0, i]
// static:   reads b[i]
// static:   writes a[3*i]
// static: E[i] : 0 <= i < N
// static:   order [1, i]
// static:   reads a[i]
// static:   writes a[i]
#include "kernel.h"

KERNEL void steps(int n, double* a, double* b) {
  for (int i = 0; i < n; i += 3) {
    a[i] = b[i / 3];  // S:
  }
  for (int i = 0; i < n; i++) {
    a[i] *= 2.5;  // E:
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 40);
  double* const a = numbers(n);
  steps(n, a, numbers(n));
  print_sum(a, n);
  return 0;
}
