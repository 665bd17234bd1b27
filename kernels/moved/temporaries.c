// Variables that every iteration sets, without optimisation by any compiler, and in a frame that is aligned, where the
// debug information does not say how far from the return address they are.
#include <stdio.h>

enum { N = 2000 };
double a[N], b[N], c[N];

__attribute__((noinline)) void touch(double* p) { *(volatile double*)p = 1; }

__attribute__((noinline)) void plain(void) {
  double t, u;
  int i;
  for (i = 0; i < N; i++) {  // loop: verdict yes; at -O0 needs private\(t\); at -O0 needs private\(u\)
    t = a[i] * 2;
    u = t * t;
    b[i] = u + t;
  }
}

__attribute__((noinline)) void aligned(void) {
  double wide[8] __attribute__((aligned(64)));
  double t;
  int i;
  touch(wide);
  for (i = 0; i < N; i++) {  // loop: verdict yes; at -O0 needs temporaries.c:26|private\(t\)
    t = a[i] * 2;
    c[i] = t + t * t;
  }
}

int main(void) {
  for (int i = 0; i < N; i++) a[i] = i % 13;
  plain();
  aligned();
  printf("%g %g\n", b[5], c[6]);
  return 0;
}
