// Where an iteration writes is in a table: whether two write the same place, addresses that are not affine do not tell.
//
// check: parallel I => unknown
#include "liveness.h"

enum { N = 40 };
double in[N], out[N];
int place[N];

KERNEL void kernel(void) {
#if defined(TWIN)
  for (int i = 0; i < N; i++) out[place[i]] = in[i] * 2;
#elif defined(BROKEN)
  for (int i = N - 1; i >= 0; i--) out[place[i]] = in[i] * 2;
#else
  for (int i = 0; i < N; i++) {  // I reuse: unknown
    out[place[i]] = in[i] * 2;
  }
#endif
}

int main(void) {
  fill(in, N);
  for (int i = 0; i < N; i++) place[i] = (i * 17 + i * i * 5) % N;
  kernel();
  printf("%.6f\n", checksum(out, N));
  return 0;
}
