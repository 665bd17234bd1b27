// A scalar that carries a value from iteration to iteration: no copies help. `t` beside it could be private.
//
// check: parallel I => illegal
// check: parallel I; private previous => illegal
#include "liveness.h"

enum { N = 40 };
double in[N], out[N];

#ifdef TRANSFORMED
KERNEL void kernel(void) {
  double previous = 0.5;
#ifdef TWIN
  for (int i = 0; i < N; i++) {
#else
  for (int i = N - 1; i >= 0; i--) {
#endif
    double t = in[i] * 3;
    previous = previous * 0.5 + t;
    out[i] = previous;
  }
}
#else
KERNEL void kernel(void) {
  double previous = 0.5;
  double t;
  for (int i = 0; i < N; i++) {  // I reuse: carried previous, private t
    t = in[i] * 3;
    previous = previous * 0.5 + t;
    out[i] = previous;
  }
}
#endif

int main(void) {
  fill(in, N);
  kernel();
  printf("%.6f\n", checksum(out, N));
  return 0;
}
