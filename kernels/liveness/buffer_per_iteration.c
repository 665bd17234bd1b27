// A buffer that each iteration allocates and frees: the allocator gives the same one again and again.
//
// check: parallel I => legal
#include "liveness.h"

enum { N = 20, M = 6 };
double in[N], out[N];

#ifdef TRANSFORMED
KERNEL void kernel(void) {
  double* all[N];
  for (int i = 0; i < N; i++) all[i] = malloc(M * sizeof(double));
#ifdef BROKEN
  for (int i = 0; i < N; i++) all[i] = all[0];
#endif
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) all[i][j] = in[i] * (j + 1);
  for (int i = 0; i < N; i++) out[i] = all[i][0] + all[i][M - 1] * all[i][2];
}
#else
KERNEL void kernel(void) {
  for (int i = 0; i < N; i++) {  // I reuse: none
    double* buffer = malloc(M * sizeof(double));
    for (int j = 0; j < M; j++) buffer[j] = in[i] * (j + 1);
    out[i] = buffer[0] + buffer[M - 1] * buffer[2];
    free(buffer);
  }
}
#endif

int main(void) {
  fill(in, N);
  kernel();
  printf("%.6f\n", checksum(out, N));
  return 0;
}
