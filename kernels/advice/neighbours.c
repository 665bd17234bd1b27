// Loops one after the other, with no loop around them. The second pass needs what the first one made in the same row,
// so both may be one loop, and the row is still in the cache. The third one goes through the rows from the end: in one
// loop with the second it would use rows that are not there yet.
//
// advice: run 60 50
#include "../kernel.h"

KERNEL void passes(int n, int m, double (*A)[m], double (*B)[m], double (*C)[m]) {
  // expect-advice: suggests LF-FUS i r; never LF-FUS r k
  for (int i = 0; i < n; i++) {    // expect: parallel
    for (int j = 0; j < m; j++) {  // expect: parallel
      B[i][j] = 2 * A[i][j] + 1;
    }
  }
  for (int r = 0; r < n; r++) {    // expect: parallel
    for (int s = 0; s < m; s++) {  // expect: parallel
      C[r][s] = B[r][s] * A[r][s];
    }
  }
  // expect-advice: never LF-FUS
  for (int k = 0; k < n; k++) {    // expect: parallel
    for (int l = 0; l < m; l++) {  // expect: parallel
      A[k][l] = C[n - 1 - k][l];
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 60);
  const int m = size_argument(argc, argv, 2, 50);
  double* const a = numbers((long)n * m);
  passes(n, m, (double(*)[m])a, (double(*)[m])numbers((long)n * m), (double(*)[m])numbers((long)n * m));
  print_sum(a, (long)n * m);
  return 0;
}
