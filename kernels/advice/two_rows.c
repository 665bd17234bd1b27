// Row by row: differences along each row go into a matrix of their own, and the result needs those of this row and of
// the one before. The matrix is never used again, and of its rows only two are alive at a time: two rows, used in turn,
// are enough. The sums of a row are used in the next iteration, so one variable is enough for all of them. What is in
// the third array is read behind the loop, and stays as it is.
//
// advice: run 30 40
#include "../kernel.h"

static double t[64][64], sums[64], kept[64];

KERNEL void smooth(int n, int m, double (*A)[m], double (*B)[m]) {
  // expect-advice: suggests LF-CON i legal yes
  for (int i = 0; i < n; i++) {  // expect: no
    double sum = 0;
    for (int j = 0; j < m - 1; j++) {  // expect: reduction(+)
      t[i][j] = A[i][j + 1] - A[i][j];
      sum += t[i][j];
    }
    sums[i] = sum;
    kept[i] = sum;
    if (i == 0) continue;
    for (int j = 0; j < m - 1; j++) {  // expect: parallel
      B[i][j] = t[i][j] + t[i - 1][j] + sums[i - 1];
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 30);
  const int m = size_argument(argc, argv, 2, 40);
  double* const b = numbers((long)n * m);
  smooth(n, m, (double(*)[m])numbers((long)n * m), (double(*)[m])b);
  print_sum(b, (long)n * m);
  print_sum(kept, n);
  return 0;
}
