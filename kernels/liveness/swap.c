// A swap through a temporary: every iteration has its own two elements.
//
// check: parallel I => private t
// check: reverse I => legal
#include "liveness.h"

enum { N = 40 };
double a[N];

#ifdef TRANSFORMED
KERNEL void kernel(void) {
  double t[N / 2];
#ifdef TWIN
#define OWN i
#else
#define OWN 0
#endif
  for (int i = 0; i < N / 2; i++) t[OWN] = a[i];
  for (int i = 0; i < N / 2; i++) a[i] = a[N - 1 - i];
  for (int i = 0; i < N / 2; i++) a[N - 1 - i] = t[OWN];
}
#else
KERNEL void kernel(void) {
  double t;
  for (int i = 0; i < N / 2; i++) {  // I reuse: private t
    t = a[i];
    a[i] = a[N - 1 - i];
    a[N - 1 - i] = t;
  }
}
#endif

int main(void) {
  fill(a, N);
  kernel();
  printf("%.6f\n", checksum(a, N));
  return 0;
}
