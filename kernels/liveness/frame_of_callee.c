// An array in the frame of a function that each iteration calls: another one each time, wherever it lies.
//
// check: parallel I => legal
#include "liveness.h"

enum { N = 20, M = 6 };
double in[N], out[N];

KERNEL double smooth(double x) {
  double buffer[M];
  double sum = 0;
  for (int j = 0; j < M; j++) buffer[j] = x * j;
  for (int j = 0; j < M; j++) sum += buffer[M - 1 - j] * j;
  return sum;
}

KERNEL void kernel(void) {
#ifdef BROKEN
  for (int i = 0; i < N; i++) out[i] = smooth(in[0]);
#elif defined(TWIN)
  for (int i = N - 1; i >= 0; i--) out[i] = smooth(in[i]);
#else
  for (int i = 0; i < N; i++) {  // I reuse: none
    out[i] = smooth(in[i]);
  }
#endif
}

int main(void) {
  fill(in, N);
  kernel();
  printf("%.6f\n", checksum(out, N));
  return 0;
}
