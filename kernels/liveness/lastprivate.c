// Each iteration sets a scalar that is read behind the loop: the value of the last one.
//
// check: parallel I => private t
#include "liveness.h"

enum { N = 40 };
double in[N], out[N];

#ifdef TRANSFORMED
KERNEL double kernel(void) {
  double t = 0;
  double last = 0;
  for (int i = N - 1; i >= 0; i--) {
    t = in[i] * 2 + 1;
    out[i] = t * t;
    if (i == N - 1) last = t;
  }
#ifdef TWIN
  return last;
#else
  return t;
#endif
}
#else
KERNEL double kernel(void) {
  double t = 0;
  for (int i = 0; i < N; i++) {  // I reuse: lastprivate t
    t = in[i] * 2 + 1;
    out[i] = t * t;
  }
  return t;
}
#endif

int main(void) {
  fill(in, N);
  const double t = kernel();
  printf("%.6f %.6f\n", t, checksum(out, N));
  return 0;
}
