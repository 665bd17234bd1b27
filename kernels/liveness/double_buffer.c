// Two buffers that change places: steps must stay in order, what is within a step need not.
//
// check: parallel T => illegal
// check: parallel I => legal
// check: reverse I => legal
#include "liveness.h"

enum { N = 30, STEPS = 6 };
double first[N], second[N];

KERNEL void kernel(void) {
  double* old = first;
  double* new = second;
  for (int t = 0; t < STEPS; t++) {      // T reuse: carried
#if defined(TWIN)
    for (int i = N - 2; i > 0; i--) {
      new[i] = old[i - 1] * 0.25 + old[i] * 0.5 + old[i + 1] * 0.25;
    }
#elif defined(BROKEN)
    for (int i = N - 2; i > 0; i--) {
      old[i] = old[i - 1] * 0.25 + old[i] * 0.5 + old[i + 1] * 0.25;
    }
#else
    for (int i = 1; i < N - 1; i++) {    // I reuse: none
      new[i] = old[i - 1] * 0.25 + old[i] * 0.5 + old[i + 1] * 0.25;
    }
#endif
    double* swap = old;
    old = new;
    new = swap;
  }
}

int main(void) {
  fill(first, N);
  fill(second, N);
  kernel();
  printf("%.6f\n", checksum(first, N));
  return 0;
}
