// Triangles: where an inner loop may have no iterations, a compiler makes its first test that of the loop around it, and
// no instruction has the line of the outer one's head.
#include <math.h>
#include <stdio.h>

enum { N = 40, M = 24 };
double a[N][N], l[N][N], q[M][N], r[N][N], x[N];

__attribute__((noinline)) void backward(void) {
  for (int j = N - 1; j >= 0; j--) {      // loop: verdict no
    x[j] /= l[j][j];
    for (int i = j - 1; i >= 0; i--)      // loop: verdict yes
      x[i] -= l[j][i] * x[j];
  }
}

__attribute__((noinline)) void forward(void) {
  for (int j = 0; j < N; j++) {           // loop: verdict no
    x[j] /= l[j][j];
    for (int i = j + 1; i < N; i++)       // loop: verdict yes unknown
      x[i] -= l[i][j] * x[j];
  }
}

__attribute__((noinline)) void decompose(void) {
  for (int k = 0; k < N; k++)             // loop: verdict no
    for (int i = k + 1; i < N; i++) {     // loop: verdict yes
      a[i][k] /= a[k][k];
      for (int j = k + 1; j < N; j++)     // loop: verdict yes unknown
        a[i][j] -= a[i][k] * a[k][j];
    }
}

__attribute__((noinline)) void orthogonal(void) {
  int i, j;
  for (int k = 0; k < N; k++) {           // loop: verdict no
    double norm = 0;
    for (i = 0; i < M; i++)               // loop: verdict reduction
      norm += q[i][k] * q[i][k];
    r[k][k] = sqrt(norm);
    for (j = k + 1; j < N; j++) {         // loop: at -O0 verdict yes; at -O1 verdict yes; at -O2 verdict yes
      r[k][j] = 0;
      for (i = 0; i < M; i++)             // loop: verdict reduction
        r[k][j] += q[i][k] * q[i][j];
      for (i = 0; i < M; i++)             // loop: verdict yes
        q[i][j] -= q[i][k] * r[k][j];
    }
  }
}

int main(void) {
  for (int i = 0; i < N; i++) {
    x[i] = i % 7 + 1;
    for (int j = 0; j < N; j++) {
      a[i][j] = i == j ? 60 : 1.0 / (1 + i + j);
      l[i][j] = i == j ? 3 : (i * 7 + j) % 5;
      if (i < M) q[i][j] = (i * 13 + j * 5) % 17 + (i == j);
    }
  }
  forward();
  backward();
  decompose();
  orthogonal();
  double s = 0;
  for (int i = 0; i < N; i++) s += x[i] + a[i][N - 1 - i] + r[i][i];
  printf("%g\n", s);
  return 0;
}
