// A nest in main, whose frame is seen only from its first push on: its locals must get their own names all the same. The
// sum is declared inside the loop over j; in an order with k outside, there are as many sums as elements.
//
// check: interchange I J => legal
// check: interchange I K => expand s
#include "liveness.h"

enum { N = 12 };
double a[N][N], b[N][N], c[N][N];

int main(void) {
  fill(&a[0][0], N * N);
  fill(&b[0][0], N * N);
  for (int i = 0; i < N; i++)      // I reuse: none
    for (int j = 0; j < N; j++) {  // J reuse: none
      double s = 0;
      for (int k = 0; k < N; k++)  // K reuse: reduction s
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
  printf("%.6f\n", checksum(&c[0][0], N * N));
  return 0;
}
