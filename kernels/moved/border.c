// Neighbours that stop at the border: a compiler makes a loop that is left in the middle, before its counter is stepped.
#include <stdio.h>

enum { N = 60 };
double in[N][N], out[N][N];

__attribute__((noinline)) void smooth(void) {
  for (int i = 0; i < N; i++) {    // loop: verdict yes
    for (int j = 0; j < N; j++) {  // loop: verdict yes
      double w = in[i][j > 0 ? j - 1 : j];
      double e = in[i][j < N - 1 ? j + 1 : j];
      out[i][j] = in[i][j] + .1 * (w + e);
    }
  }
}

__attribute__((noinline)) double follow(void) {
  double s = 0;
  for (int i = 0; i < N; i++) {  // loop: verdict no unknown
    double w = in[i > 0 ? i - 1 : i][3];
    double e = in[i < N - 1 ? i + 1 : i][3];
    s = .5 * s + w - e;
    out[0][i] = s;
  }
  return s;
}

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) in[i][j] = i * 7 + j * j % 11;
  smooth();
  printf("%g\n", out[3][7] + out[30][39]);
  printf("%g\n", follow());
  return 0;
}
