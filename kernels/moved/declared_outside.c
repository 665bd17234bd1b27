// Built by GCC only: Clang's debug information has less of this.
// Variables that are declared at the top of a function, and set by every iteration: counters of inner loops, and
// temporaries. With optimisation, the debug information has them in registers only some instructions after they were set,
// or as constants and expressions, and in places not at all.
#include <stdio.h>

enum { N = 96 };
static double a[N][N], b[N][N], s[N];
static int marks[N];

__attribute__((noinline)) static void transposed(void) {
  int i, j;
  for (i = 0; i < N; i++)  // loop: verdict yes; needs private\(j\); never \(i\)
    for (j = 0; j < N; j++) a[i][j] = b[j][i] * 2 + i;
}

__attribute__((noinline)) static void found(void) {
  int i, j, k;
  double t;
  for (i = 0; i < N; i += 8) {  // loop: verdict yes unknown; needs private\(j\); needs private\(k\); never \(i\)
    for (j = 0; j < N; j++) {
      t = b[i][j] * 3;
      for (k = j; k < N; k++)
        if (b[j][k] > t) break;
      a[i][j] = t + k;
    }
  }
}

__attribute__((noinline)) static void window(void) {
  int i, j, k, sum;
  // At -O3 there is no sum any more, with its loop.
  for (i = 2; i < N - 2; i++)  // loop: needs private\(j\); needs private\(k\); at -O2 needs private\(sum\); never \(i\)
    for (j = 0; j < N; j++) {
      sum = 0;
      for (k = -2; k <= 2; k++) sum += marks[i + k] * (j + 1);
      a[i][j] = sum / 5;
    }
}

__attribute__((noinline)) static void triangle(int n) {
  int i, j, k;
  for (k = 0; k < n; k++)
    for (i = k + 1; i < n; i++) {  // loop: at -O0 needs private\(j\); at -O2 needs private\(j\); never \(i\)
      a[i][k] /= a[k][k] + 100;
      for (j = k + 1; j < n; j++) a[i][j] -= a[i][k] * a[k][j];
    }
}

/// What stays the same in the loop, and is moved about around calls, is none of them.
__attribute__((noinline)) double half(double x) { return x * 0.5 + 1; }
__attribute__((noinline)) static void scaled(int m, int n, int p, double* from, double* to) {
  int first = marks[3] + p;
  double scale = s[1] + n, shift = s[2] + m;
  int i, j;
  for (i = 0; i < m; i++)  // loop: verdict yes unknown; never private\((m|n|p|from|to|first|scale|shift|i)\)
    for (j = 0; j < n; j++) to[i * n + j] = half(from[j] * scale + shift) + first;
}

int main(void) {
  for (int i = 0; i < N; i++) {
    marks[i] = i * 37 % 11;
    for (int j = 0; j < N; j++) b[i][j] = (i * 7 + j * 3) % 11;
  }
  transposed();
  found();
  window();
  triangle(N);
  scaled(N, N, 3, b[5], a[0]);
  double x = 0;
  for (int i = 0; i < N; i++)  // loop: never \(i\)
    for (int j = 0; j < N; j++) x += a[i][j] * (i + 1) + s[j];
  printf("%g\n", x);
  return 0;
}
