// C = C / 2 + A B. LAYOUT: 1 A by columns, 2 B, 4 C, added up; ORDER: the loops, outermost first.
#include <stdio.h>
#include <stdlib.h>

#ifndef N
#define N 72
#endif
enum { NI = N, NJ = N + 4, NK = N + 12 };
static double A[NI][NK], B[NK][NJ], C[NI][NJ];

#if LAYOUT & 1
static double a[NK][NI];
#define AT(i, k) a[k][i]
#else
#define AT(i, k) A[i][k]
#endif
#if LAYOUT & 2
static double b[NJ][NK];
#define BT(k, j) b[j][k]
#else
#define BT(k, j) B[k][j]
#endif
#if LAYOUT & 4
static double c[NJ][NI];
#define CT(i, j) c[j][i]
#else
#define CT(i, j) C[i][j]
#endif

#define FOR_i for (int i = 0; i < NI; i++)
#define FOR_j for (int j = 0; j < NJ; j++)
#define FOR_k for (int k = 0; k < NK; k++)

__attribute__((noinline)) static void copy_in(void) {
#if LAYOUT & 1
  FOR_i FOR_k a[k][i] = A[i][k];
#endif
#if LAYOUT & 2
  FOR_k FOR_j b[j][k] = B[k][j];
#endif
#if LAYOUT & 4
  FOR_i FOR_j c[j][i] = C[i][j];
#endif
}

__attribute__((noinline)) static void copy_out(void) {
#if LAYOUT & 4
  FOR_i FOR_j C[i][j] = c[j][i];
#endif
}

#ifdef PROFILED
// The arrays may overlap, as far as the compiler knows: C is in memory all the time.
__attribute__((noinline)) static void product(double (*c)[NJ], double (*a)[NK], double (*b)[NJ]) {
  for (int i = 0; i < NI; i++)    // i
    for (int j = 0; j < NJ; j++) {  // j
      c[i][j] *= 0.5;
      for (int k = 0; k < NK; k++)  // k
        c[i][j] += a[i][k] * b[k][j];
    }
}
#else
__attribute__((noinline)) static void product(void) {
  FOR_i FOR_j CT(i, j) *= 0.5;
#if ORDER == 0
  FOR_i FOR_j FOR_k CT(i, j) += AT(i, k) * BT(k, j);
#elif ORDER == 1
  FOR_i FOR_k FOR_j CT(i, j) += AT(i, k) * BT(k, j);
#elif ORDER == 2
  FOR_j FOR_i FOR_k CT(i, j) += AT(i, k) * BT(k, j);
#elif ORDER == 3
  FOR_j FOR_k FOR_i CT(i, j) += AT(i, k) * BT(k, j);
#elif ORDER == 4
  FOR_k FOR_i FOR_j CT(i, j) += AT(i, k) * BT(k, j);
#else
  FOR_k FOR_j FOR_i CT(i, j) += AT(i, k) * BT(k, j);
#endif
}
#endif

int main(void) {
  FOR_i FOR_k A[i][k] = (i * 7 + k) % 13;
  FOR_k FOR_j B[k][j] = (k * 5 + j) % 11;
  FOR_i FOR_j C[i][j] = (i + j) % 5;
#ifdef PROFILED
  product(C, A, B);
#else
  copy_in();
  product();
  copy_out();
#endif
  double sum = 0;
  FOR_i FOR_j sum = sum * 0.75 + C[i][j];
  printf("%.17g\n", sum);
  return 0;
}
