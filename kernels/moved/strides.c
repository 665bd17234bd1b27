// Steps that the loop around changes, loaded anew in every iteration where nothing is optimised: rows of butterflies.
// And one that the loop itself changes.
#include <stdio.h>

enum { N = 256 };
double re[N], im[N];
int seen[N];

__attribute__((noinline)) void butterflies(int n) {
  for (int len = 2; len <= n; len <<= 1) {  // loop: verdict no
    for (int i = 0; i < n; i += len) {      // loop: at -O0 verdict yes; at -O1 verdict yes
      for (int j = 0; j < len / 2; j++) {   // loop: verdict yes
        const double u = re[i + j];
        const double v = re[i + j + len / 2] * im[j];
        re[i + j] = u + v;
        re[i + j + len / 2] = u - v;
      }
    }
  }
}

__attribute__((noinline)) void longer_steps(int n) {
  for (int first = 1; first < 5; first++) {
    int step = first;
    for (int i = 0; i < n; i += step) {  // loop: at -O0 verdict no unknown; at -O1 verdict no unknown
      for (int j = 0; j < 2; j++) seen[i] += j + step;
      if (i > n / 2) step = first + 2;
    }
  }
}

int main(void) {
  for (int i = 0; i < N; i++) {
    re[i] = i % 10;
    im[i] = 1.0 / (i + 1);
  }
  butterflies(N);
  longer_steps(N);
  double sum = 0;
  for (int i = 0; i < N; i++) sum += re[i] * (i % 3) + seen[i];
  printf("%g\n", sum);
  return 0;
}
