// C = beta C + alpha A B, with C in memory all the time: the arrays may overlap, as far as the compiler knows. The order
// of the loops is worth more than any layout; eight combinations of layouts are ranked, array reductions over k among
// the orders.
// search: --cores 1 --scale 10
// expect-layout: region gemm layouts none
// expect-layout: region gemm conclusion "no other one helps|copying the arrays costs more"
// expect-layout: region gemm combinations 8
#include <stdio.h>
#include <stdlib.h>

enum { NI = 72, NJ = 76, NK = 84 };
static double A[NI][NK], B[NK][NJ], C[NI][NJ];

__attribute__((noinline)) static void gemm(double (*c)[NJ], double (*a)[NK], double (*b)[NJ], double alpha,
                                           double beta) {
  for (int i = 0; i < NI; i++)  // region gemm
    for (int j = 0; j < NJ; j++) {
      c[i][j] *= beta;
      for (int k = 0; k < NK; k++) c[i][j] += alpha * a[i][k] * b[k][j];
    }
}

int main(void) {
  for (int i = 0; i < NI; i++)
    for (int k = 0; k < NK; k++) A[i][k] = (i * 7 + k) % 13;
  for (int k = 0; k < NK; k++)
    for (int j = 0; j < NJ; j++) B[k][j] = (k * 5 + j) % 11;
  gemm(C, A, B, 1.5, 0.5);
  printf("%g\n", C[NI / 2][NJ / 3]);
  return 0;
}
