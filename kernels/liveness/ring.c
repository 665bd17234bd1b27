// A ring of four places; each iteration fills one and reads it again.
//
// check: parallel I => private ring
#include "liveness.h"

enum { N = 40, R = 4 };
double in[N], out[N], ring[R];

#ifdef TRANSFORMED
KERNEL void kernel(void) {
#ifdef TWIN
  double places[N];
#define PLACE places[i]
#else
#define PLACE ring[i % R]
#endif
  for (int i = 0; i < N; i++) PLACE = in[i] * in[i];
  for (int i = 0; i < N; i++) out[i] = PLACE + 1;
}
#else
KERNEL void kernel(void) {
  for (int i = 0; i < N; i++) {  // I reuse: private ring
    ring[i % R] = in[i] * in[i];
    for (int j = 0; j < 2; j++) out[i] = ring[i % R] + j;
  }
}
#endif

int main(void) {
  fill(in, N);
  kernel();
  printf("%.6f\n", checksum(out, N));
  return 0;
}
