// A function inside of another, as is its debug information. (Built by GCC only.)
#include <stdio.h>

enum { N = 2000 };
double a[N], d[N];

int main(void) {
  for (int i = 0; i < N; i++) a[i] = i % 13;
  void inside(void) {
    double t;
    for (int i = 0; i < N; i++) {  // loop: verdict yes; at -O0 needs private\(t\)
      t = a[i] * 2;
      d[i] = t * t;
    }
  }
  inside();
  printf("%g\n", d[7]);
  return 0;
}
