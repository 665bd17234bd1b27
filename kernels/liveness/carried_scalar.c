// A scalar that carries a value from iteration to iteration: no copies help.
//
// check: parallel I => illegal
// check: parallel I; private previous => illegal
// check: reverse I => illegal
#include "liveness.h"

enum { N = 40 };
double in[N], out[N];

KERNEL void kernel(void) {
  double previous = 0.5;
#ifdef BROKEN
  for (int i = N - 1; i >= 0; i--) {
    previous = previous * 0.5 + in[i];
    out[i] = previous;
  }
#else
  for (int i = 0; i < N; i++) {  // I reuse: carried previous
    previous = previous * 0.5 + in[i];
    out[i] = previous;
  }
#endif
}

int main(void) {
  fill(in, N);
  kernel();
  printf("%.6f\n", checksum(out, N));
  return 0;
}
