// Convolution of an image with a small window.
//
// static: sizes N = 10, M = 11, K = 4, L = 5
// static: Z[i, j] : 0 <= i < N - K + 1 and 0 <= j < M - L + 1
// static:   order [i, j, 0]
// static:   writes B[i, j]
// static: S[i, j, k, l] : 0 <= i < N - K + 1 and 0 <= j < M - L + 1 and 0 <= k < K and 0 <= l < L
// static:   order [i, j, 1, k, l]
// static:   reads B[i, j], A[i + k, j + l], w[k, l]
// static:   writes B[i, j]
// static: R[i, j] : 0 <= i < N - K + 1 and 0 <= j < M - L + 1
// static:   order [i, j, 2]
// static:   reads B[i, j]
// static:   writes B[i, j]
#include "kernel.h"

KERNEL void convolve(int n, int m, int h, int v, double (*A)[m], double (*w)[v], double (*B)[m]) {
  for (int i = 0; i < n - h + 1; i++) {
    for (int j = 0; j < m - v + 1; j++) {
      B[i][j] = 0;  // Z:
      for (int k = 0; k < h; k++) {
        for (int l = 0; l < v; l++) {
          B[i][j] += A[i + k][j + l] * w[k][l];  // S:
        }
      }
      B[i][j] *= 0.1;  // R:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 10);
  const int m = size_argument(argc, argv, 2, 11);
  const int h = size_argument(argc, argv, 3, 4);
  const int v = size_argument(argc, argv, 4, 5);
  double* const b = numbers((long)n * m);
  convolve(n, m, h, v, (double(*)[m])numbers((long)n * m), (double(*)[v])numbers((long)h * v), (double(*)[m])b);
  print_sum(b, (long)n * m);
  return 0;
}
