// The matrix product in all six orders of its loops: the same flow, C[i][j] from one k to the next, six times.
//
// The three loops may be put in any order and tiled together, without skewing. i and j carry nothing; k adds up. Only
// the innermost loop makes the difference for memory: along j all accesses are near (C 1, A 0, B 1), along k all but B,
// along i only B. So every order with another loop innermost should be interchanged, and no other. C may be A or B for
// all that the compiler knows, so it is stored every time; at -O2 its load is saved along k.
//
// advice: run 24
#include "../kernel.h"

KERNEL void product_ijk(int n, double (*C)[n], double (*A)[n], double (*B)[n]) {
  // expect-advice: tile_depth 3; tilable_ops >= 95; skew no; parallel_ops >= 95; simd_ops >= 90; potential_reuse >= 98
  // expect-advice: interchange j k; suggests LF-ICH j k
  // expect-advice: suggests LF-TIL i j k; never LF-SKW; suggests LF-PAR i
  // expect-advice -O1: reuse 75
  // expect-advice -O2: reuse 67
  for (int i = 0; i < n; i++) {    // expect: parallel
    for (int j = 0; j < n; j++) {  // expect: parallel
      // expect-advice -O1: stride01 75
      // expect-advice -O2: stride01 67
      for (int k = 0; k < n; k++) {  // expect: reduction(+)
        C[i][j] += A[i][k] * B[k][j];
      }
    }
  }
}

KERNEL void product_ikj(int n, double (*C)[n], double (*A)[n], double (*B)[n]) {
  // expect-advice: tile_depth 3; tilable_ops >= 95; skew no; parallel_ops >= 95; simd_ops >= 90; potential_reuse >= 98
  // expect-advice: reuse >= 98; suggests LF-SIMD j; never LF-ICH k j; interchange none
  // expect-advice: suggests LF-TIL i j k; never LF-SKW; suggests LF-PAR i
  for (int i = 0; i < n; i++) {    // expect: parallel
    for (int k = 0; k < n; k++) {  // expect: reduction(+)
      // expect-advice: stride01 100
      for (int j = 0; j < n; j++) {  // expect: parallel
        C[i][j] += A[i][k] * B[k][j];
      }
    }
  }
}

KERNEL void product_jik(int n, double (*C)[n], double (*A)[n], double (*B)[n]) {
  // expect-advice: tile_depth 3; tilable_ops >= 95; skew no; parallel_ops >= 95; simd_ops >= 90; potential_reuse >= 98
  // expect-advice: interchange j k; suggests LF-ICH j k
  // expect-advice: suggests LF-TIL i j k; never LF-SKW; suggests LF-PAR j
  // expect-advice -O1: reuse 75
  // expect-advice -O2: reuse 67
  for (int j = 0; j < n; j++) {    // expect: parallel
    for (int i = 0; i < n; i++) {  // expect: parallel
      // expect-advice -O1: stride01 75
      // expect-advice -O2: stride01 67
      for (int k = 0; k < n; k++) {  // expect: reduction(+)
        C[i][j] += A[i][k] * B[k][j];
      }
    }
  }
}

KERNEL void product_jki(int n, double (*C)[n], double (*A)[n], double (*B)[n]) {
  // expect-advice: tile_depth 3; tilable_ops >= 95; skew no; parallel_ops >= 95; simd_ops >= 90; potential_reuse >= 98
  // expect-advice: interchange j i; suggests LF-ICH j i
  // expect-advice: suggests LF-TIL i j k; never LF-SKW; suggests LF-PAR j
  // expect-advice: reuse 25
  for (int j = 0; j < n; j++) {    // expect: parallel
    for (int k = 0; k < n; k++) {  // expect: reduction(+)
      // expect-advice: stride01 25
      for (int i = 0; i < n; i++) {  // expect: parallel
        C[i][j] += A[i][k] * B[k][j];
      }
    }
  }
}

KERNEL void product_kij(int n, double (*C)[n], double (*A)[n], double (*B)[n]) {
  // expect-advice: tile_depth 3; tilable_ops >= 95; skew no; parallel_ops >= 95; simd_ops >= 90; potential_reuse >= 98
  // expect-advice: reuse >= 98; suggests LF-SIMD j; never LF-ICH k j
  // expect-advice: suggests LF-TIL i j k; never LF-SKW
  for (int k = 0; k < n; k++) {    // expect: reduction(+)
    for (int i = 0; i < n; i++) {  // expect: parallel
      // expect-advice: stride01 100
      for (int j = 0; j < n; j++) {  // expect: parallel
        C[i][j] += A[i][k] * B[k][j];
      }
    }
  }
}

KERNEL void product_kji(int n, double (*C)[n], double (*A)[n], double (*B)[n]) {
  // expect-advice: tile_depth 3; tilable_ops >= 95; skew no; parallel_ops >= 95; simd_ops >= 90; potential_reuse >= 98
  // expect-advice: interchange j i; suggests LF-ICH j i
  // expect-advice: suggests LF-TIL i j k; never LF-SKW
  // expect-advice: reuse 25
  for (int k = 0; k < n; k++) {    // expect: reduction(+)
    for (int j = 0; j < n; j++) {  // expect: parallel
      // expect-advice: stride01 25
      for (int i = 0; i < n; i++) {  // expect: parallel
        C[i][j] += A[i][k] * B[k][j];
      }
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 24);
  double(*const c)[n] = (double(*)[n])numbers((long)n * n);
  double(*const a)[n] = (double(*)[n])numbers((long)n * n);
  double(*const b)[n] = (double(*)[n])numbers((long)n * n);
  product_ijk(n, c, a, b);
  product_ikj(n, c, a, b);
  product_jik(n, c, a, b);
  product_jki(n, c, a, b);
  product_kij(n, c, a, b);
  product_kji(n, c, a, b);
  print_sum((double*)c, (long)n * n);
  return 0;
}
