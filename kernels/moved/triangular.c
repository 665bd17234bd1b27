// Built by GCC only. Sums in an element that a compiler keeps in a register, and stores whenever it has changed. In the
// first row nothing is summed up; the compiler makes a way of its own of it, on which the element is written, too.
#include <stdio.h>

enum { N = 40 };
double a[N][N], b[N], x[N];

__attribute__((noinline)) void backward(void) {
  for (int i = N - 1; i >= 0; i--) {  // loop: verdict no
    x[i] = b[i];
    for (int j = i + 1; j < N; j++)  // loop: verdict reduction
      x[i] -= a[j][i] * x[j];
    x[i] = x[i] / a[i][i];
  }
}

/// What is stored is another variable, which begins with something else: in the first row that is used.
__attribute__((noinline)) void two_of_them(double* last) {
  for (int i = N - 1; i >= 0; i--) {
    double s = b[i];
    *last += 1;
    for (int j = i + 1; j < N; j++) {  // loop: verdict no unknown
      s -= a[j][i] * x[j];
      *last = s;
    }
    b[i] = s + *last;
  }
}

int main(void) {
  for (int i = 0; i < N; i++) {
    b[i] = 1 + i % 5;
    for (int j = 0; j < N; j++) a[i][j] = i == j ? N : 1.0 / (1 + i + j);
  }
  backward();
  double last = 3;
  two_of_them(&last);
  double s = last;
  for (int i = 0; i < N; i++) s += x[i] * i + b[i];
  printf("%g\n", s);
  return 0;
}
