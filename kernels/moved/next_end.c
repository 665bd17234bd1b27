// Plain nests. A compiler makes the end of the next row of where the pointer has got to in this one.
#include <stdio.h>

enum { N = 100 };
double f[N][N];

__attribute__((noinline)) double sum(void) {
  double s = 0;
  for (int i = 0; i < N; i++)    // loop: verdict reduction
    for (int j = 0; j < N; j++)  // loop: verdict reduction
      s += f[i][j];
  return s;
}

int main(void) {
  for (int i = 0; i < N; i++)    // loop: verdict yes
    for (int j = 0; j < N; j++)  // loop: verdict yes
      f[i][j] = i ^ j;
  printf("%g\n", sum());
  return 0;
}
