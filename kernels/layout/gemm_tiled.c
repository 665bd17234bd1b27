// A matrix product: C in tiles of 32 by 64, a column of A and a row of B beside each other.
//
// map: { C[e1, e2] -> [0, floor(e1/32), floor(e2/64), e1 mod 32, e2 mod 64] } { A[e1, e2] -> [1, e2, 0, e1] } { B[e1, e2] -> [1, e1, 1, e2] }
#include "data.h"

static void gemm(int ni, int nj, int nk, double alpha, double beta, double C[ni][nj], double A[ni][nk],
                 double B[nk][nj]) {
#pragma layout map(inout: C(e1,e2) -> (0, e1/32, e2/64, e1%32, e2%64) : double[ni, nj]) \
               map(in: A(e1,e2) -> (1, e2, 0, e1) : double[ni, nk]) \
               map(in: B(e1,e2) -> (1, e1, 1, e2) : double[nk, nj])
  {
    for (int i = 0; i < ni; i++)
      for (int j = 0; j < nj; j++) C[i][j] *= beta;
    for (int k = 0; k < nk; k++)
      for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++) C[i][j] += alpha * A[i][k] * B[k][j];
  }
}

int main(int argc, char** argv) {
  const int ni = size_from(argc, argv, 1, 40), nj = size_from(argc, argv, 2, 70), nk = size_from(argc, argv, 3, 50);
  double(*const c)[nj] = malloc(sizeof(double[ni][nj]));
  double(*const a)[nk] = malloc(sizeof(double[ni][nk]));
  double(*const b)[nj] = malloc(sizeof(double[nk][nj]));
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) c[i][j] = number(i + 3l * j);
  for (int i = 0; i < ni; i++)
    for (int k = 0; k < nk; k++) a[i][k] = number(7l * i + k);
  for (int k = 0; k < nk; k++)
    for (int j = 0; j < nj; j++) b[k][j] = number(5l * k + 2l * j);
  gemm(ni, nj, nk, 1.5, 0.25, c, a, b);
  print_bits("C", c, sizeof(double[ni][nj]));
  print_bits("A", a, sizeof(double[ni][nk]));
  free(c);
  free(a);
  free(b);
  return 0;
}
