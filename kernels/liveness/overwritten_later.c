// Each iteration reads what a later one overwrites: a copy of the array keeps the old values.
//
// check: parallel I => expand a
// check: reverse I => expand a
#include "liveness.h"

enum { N = 40 };
double a[N + 1];

#ifdef TRANSFORMED
KERNEL void kernel(void) {
#ifdef TWIN
  double old[N + 1];
  memcpy(old, a, sizeof a);
  for (int i = N - 1; i >= 0; i--) a[i] = old[i + 1] * 2;
#else
  for (int i = N - 1; i >= 0; i--) a[i] = a[i + 1] * 2;
#endif
}
#else
KERNEL void kernel(void) {
  for (int i = 0; i < N; i++) {  // I reuse: expand a
    a[i] = a[i + 1] * 2;
  }
}
#endif

int main(void) {
  fill(a, N + 1);
  kernel();
  printf("%.6f\n", checksum(a, N + 1));
  return 0;
}
