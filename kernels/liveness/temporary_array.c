// A temporary array that every iteration fills before it reads it.
//
// check: parallel I => private tmp
#include "liveness.h"

enum { N = 24, M = 10 };
double in[N][M], out[N][M], tmp[M];

#ifdef TRANSFORMED
/// All iterations at once: each step of the body is done for all of them.
KERNEL void kernel(void) {
#ifdef TWIN
  static double own[N][M];
#define tmp own[i]
#endif
  for (int j = 0; j < M; j++)
    for (int i = N - 1; i >= 0; i--) tmp[j] = in[i][j] * 2;
  for (int j = 0; j < M; j++)
    for (int i = N - 1; i >= 0; i--) out[i][j] = tmp[M - 1 - j] + tmp[j];
#undef tmp
}
#else
KERNEL void kernel(void) {
  for (int i = 0; i < N; i++) {  // I reuse: private tmp
    for (int j = 0; j < M; j++) tmp[j] = in[i][j] * 2;
    for (int j = 0; j < M; j++) out[i][j] = tmp[M - 1 - j] + tmp[j];
  }
}
#endif

int main(void) {
  fill(&in[0][0], N * M);
  kernel();
  printf("%.6f\n", checksum(&out[0][0], N * M));
  return 0;
}
