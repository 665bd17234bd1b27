// Two electric components and a magnetic one, on grids shifted against each other, in time: each is updated from
// differences of the others. A source drives one edge.
//
// static: sizes T = 4, N = 7, M = 9
// static: P[t, j] : 0 <= t < T and 0 <= j < M
// static:   order [t, 0, j]
// static:   reads pulse[t]
// static:   writes ey[0, j]
// static: Y[t, i, j] : 0 <= t < T and 0 <= i < N - 1 and 0 <= j < M
// static:   order [t, 1, i, j]
// static:   reads ey[i + 1, j], hz[i + 1, j], hz[i, j]
// static:   writes ey[i + 1, j]
// static: X[t, i, j] : 0 <= t < T and 0 <= i < N and 0 <= j < M - 1
// static:   order [t, 2, i, j]
// static:   reads ex[i, j + 1], hz[i, j + 1], hz[i, j]
// static:   writes ex[i, j + 1]
// static: H[t, i, j] : 0 <= t < T and 0 <= i < N - 1 and 0 <= j < M - 1
// static:   order [t, 3, i, j]
// static:   reads hz[i, j], ex[i, j + 1], ex[i, j], ey[i + 1, j], ey[i, j]
// static:   writes hz[i, j]
//
// Within a step the four nests follow each other, and each is parallel. hz of the step before is needed at i - 1 and j
// - 1, ex and ey of this one at i + 1 and j + 1: all can be one nest, skewed by time, and tiled.
//
// advice: run 6 16 18
#include "kernel.h"

KERNEL void fields(int steps, int n, int m, double (*ex)[m], double (*ey)[m], double (*hz)[m], double* pulse) {
  // expect-advice: tile_depth 3; skew yes; tilable_ops >= 90; parallel_ops >= 90; simd_ops >= 90; never LF-PAR t
  // expect-advice: suggests LF-SKW; reuse >= 98
  for (int t = 0; t < steps; t++) {  // expect: no: the fields of the step before
    for (int j = 0; j < m; j++) {  // expect: parallel
      ey[0][j] = pulse[t];  // P:
    }
    for (int i = 1; i < n; i++) {  // expect: parallel
      for (int j = 0; j < m; j++) {  // expect: parallel
        ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);  // Y:
      }
    }
    for (int i = 0; i < n; i++) {  // expect: parallel
      for (int j = 1; j < m; j++) {  // expect: parallel
        ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);  // X:
      }
    }
    for (int i = 0; i < n - 1; i++) {  // expect: parallel
      for (int j = 0; j < m - 1; j++) {  // expect: parallel
        hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);  // H:
      }
    }
  }
}

int main(int argc, char** argv) {
  const int steps = size_argument(argc, argv, 1, 4);
  const int n = size_argument(argc, argv, 2, 7);
  const int m = size_argument(argc, argv, 3, 9);
  double* const hz = numbers((long)n * m);
  fields(steps, n, m, (double(*)[m])numbers((long)n * m), (double(*)[m])numbers((long)n * m), (double(*)[m])hz,
         numbers(steps));
  print_sum(hz, (long)n * m);
  return 0;
}
