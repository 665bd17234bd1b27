// Trifunovic and Cohen's example: a matrix product whose sum is kept in a scalar.
//
// check: interchange I J => legal
// check: interchange J K => expand s
// check: parallel I => private s
// check: parallel K => illegal
// check: parallel K reduction => legal
#include "liveness.h"

#ifndef N
#define N 12
#endif
double a[N][N], b[N][N], c[N][N];

KERNEL void kernel(void) {
  double s;
#ifdef TRANSFORMED
#ifdef TWIN
  double expanded[N];
#define s expanded[j]
#endif
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) s = 0;
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) s += a[i][k] * b[k][j];
    for (int j = 0; j < N; j++) c[i][j] = s;
  }
#else
  for (int i = 0; i < N; i++) {      // I reuse: private s
    for (int j = 0; j < N; j++) {    // J reuse: private s
      s = 0;
      for (int k = 0; k < N; k++) {  // K reuse: reduction s
        s += a[i][k] * b[k][j];
      }
      c[i][j] = s;
    }
  }
#endif
}

int main(void) {
  fill(&a[0][0], N * N);
  fill(&b[0][0], N * N);
  kernel();
  printf("%.6f\n", checksum(&c[0][0], N * N));
  return 0;
}
