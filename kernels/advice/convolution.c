// A filter over an image. Points are free of each other; a point adds up over the filter's rows k and columns l. That
// chain goes from the end of a row to the start of the next, (1, -8) in (k, l), so that l joins a tile only if it is
// skewed; i, j and k can be tiled as they are.
//
// advice: run 14 15
#include "../kernel.h"

enum { kSize = 9 };

KERNEL void filter(int n, int m, double (*A)[m + kSize], double (*w)[kSize], double (*B)[m]) {
  // expect-advice -O1: tile_depth >= 3; tilable_ops >= 90
  // expect-advice: parallel_ops >= 95; reuse >= 95; never LF-PAR k
  // expect-advice: suggests LF-PAR i
  for (int i = 0; i < n; i++) {          // expect: parallel
    for (int j = 0; j < m; j++) {        // expect: parallel
      for (int k = 0; k < kSize; k++) {  // expect: reduction(+)
        // expect-advice: stride01 100
        for (int l = 0; l < kSize; l++) {  // expect: reduction(+)
          B[i][j] += A[i + k][j + l] * w[k][l];
        }
      }
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 14);
  const int m = size_argument(argc, argv, 2, 15);
  double* const b = numbers((long)n * m);
  filter(n, m, (double(*)[m + kSize]) numbers((long)(n + kSize) * (m + kSize)),
         (double(*)[kSize])numbers((long)kSize * kSize), (double(*)[m])b);
  print_sum(b, (long)n * m);
  return 0;
}
