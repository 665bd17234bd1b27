// Two inner loops with a buffer between them. Two loops over i need the buffer once for each i.
//
// check: distribute I at B => expand row
// check: interchange I A => expand row
#include "liveness.h"

enum { N = 16, M = 8 };
double in[N][M], out[N][M];

#ifdef TRANSFORMED
KERNEL void kernel(void) {
#ifdef TWIN
  double rows[N][M];
#define row rows[i]
#else
  double row[M];
#endif
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) row[j] = in[i][j] + 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) out[i][j] = row[j] * row[M - 1 - j];
#undef row
}
#else
KERNEL void kernel(void) {
  double row[M];
  for (int i = 0; i < N; i++) {      // I reuse: private row
    for (int j = 0; j < M; j++) {    // A reuse: none
      row[j] = in[i][j] + 1;
    }
    for (int j = 0; j < M; j++) {    // B reuse: none
      out[i][j] = row[j] * row[M - 1 - j];
    }
  }
}
#endif

int main(void) {
  fill(&in[0][0], N * M);
  kernel();
  printf("%.6f\n", checksum(&out[0][0], N * M));
  return 0;
}
