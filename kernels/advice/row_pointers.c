// A matrix product over rows that were allocated one by one. A compiler sees pointers that may lead anywhere; a run
// shows that rows do not overlap: the flow is that of any matrix product, C[i][j] from one k to the next.
//
// Along k, the load of B moves from block to block; the pointers to rows and A are near. Along j everything is: the
// pointers stay, C and B go along their rows. So j and k should change places.
//
// advice: run 24
#include "../kernel.h"

KERNEL void product(int n, double** C, double** A, double** B) {
  // expect-advice: tile_depth 3; skew no; parallel_ops >= 95; simd_ops >= 90; tilable_ops >= 95; potential_reuse >= 98
  // expect-advice: reuse 70..90; interchange j k; suggests LF-ICH j k; suggests LF-PAR i; suggests LF-TIL i j k
  // expect-advice -O1: obstacles AP
  for (int i = 0; i < n; i++) {  // expect: parallel
    // expect-advice: stride01 >= 98
    for (int j = 0; j < n; j++) {    // expect: parallel
      for (int k = 0; k < n; k++) {  // expect: reduction(+)
        C[i][j] += A[i][k] * B[k][j];
      }
    }
  }
}

static double** rows(int n) {
  double** const table = block_of(n, sizeof(double*));
  for (int i = 0; i < n; i++) table[i] = numbers(n);
  return table;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 24);
  double** const c = rows(n);
  product(n, c, rows(n), rows(n));
  for (int i = 0; i < n; i++) print_sum(c[i], n);
  return 0;
}
