// A matrix product whose three loops are in three functions. The nest is there all the same: what is called from a loop
// is inside it. The innermost function adds up in a variable of its own, so an interchange with the loop that calls it
// needs the functions to be one, and an element of the sum for each j.
//
// Along k: A is near, B is not. Along j: A stays, B is near.
//
// advice: run 24
#include "../kernel.h"

KERNEL double element(int n, const double* a, const double* b) {
  double s = 0;
  // expect-advice: stride01 50
  for (int k = 0; k < n; k++) {  // expect: reduction(+)
    s += a[k] * b[k * n];
  }
  return s;
}

KERNEL void row(int n, double* c, const double* a, const double* b) {
  for (int j = 0; j < n; j++) {  // expect: parallel
    c[j] = element(n, a, b + j);
  }
}

KERNEL void product(int n, double* c, const double* a, const double* b) {
  // expect-advice: interprocedural yes; tile_depth 3; skew no; parallel_ops >= 95; never LF-SKW
  // expect-advice: reuse 50..60; potential_reuse >= 95; interchange j k; suggests LF-ICH j k needs expand
  // expect-advice: suggests LF-PAR i
  // expect-advice -O1: obstacles RA
  for (int i = 0; i < n; i++) {  // expect: parallel
    row(n, c + i * n, a + i * n, b);
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 24);
  double* const c = numbers((long)n * n);
  product(n, c, numbers((long)n * n), numbers((long)n * n));
  print_sum(c, (long)n * n);
  return 0;
}
