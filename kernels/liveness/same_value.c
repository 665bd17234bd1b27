// A scalar that gets the same value again and again, from which the next iteration of the outer loop reads it. It looks
// like a counter, which a new order would have anew; but it is one place that all iterations write to.
//
// check: parallel J => private s
// check: parallel I => illegal
// check: reverse J => expand s
#include "liveness.h"

enum { N = 12, M = 4 };
double in[N], out[N];

KERNEL void kernel(double t) {
  double s = 1;
  for (int i = 0; i < N; i++) {    // I reuse: carried
    out[i] = in[i] + s;
    for (int j = 0; j < M; j++) {  // J reuse: lastprivate s
      s = 0.5 * t + 0.75;
    }
  }
}

int main(void) {
  fill(in, N);
  kernel(3);
  printf("%.6f\n", checksum(out, N));
  return 0;
}
