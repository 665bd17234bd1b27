// Several sums in one line: each has its own name.
#include <stdio.h>

enum { N = 2000 };
double x[N], y[N];

__attribute__((noinline)) void sums(double* r) {
  double a = 0, b = 0, c = 0;
  int count = 0;
  // clang-format off
  for (int i = 0; i < N; i++) {  // loop: at -O0 verdict reduction; at -O0 needs \ba\b; at -O0 needs \bb\b; at -O0 needs \bc\b; at -O0 needs count
    a += x[i]; b += y[i]; c += x[i] * y[i]; if (x[i] > 3) count++;
  }
  // clang-format on
  r[0] = a;
  r[1] = b;
  r[2] = c + count;
}

int main(void) {
  double r[3];
  for (int i = 0; i < N; i++) {
    x[i] = i % 7;
    y[i] = i % 5;
  }
  sums(r);
  printf("%g %g %g\n", r[0], r[1], r[2]);
  return 0;
}
