// Calls the reference BLAS: a product of matrices (dgemm), and a triangular system with many right-hand sides (dtrsm).
//
//     gcc -g -O1 blas.c -o blas -lblas
//
// Matrices are stored by columns, as Fortran does.
#include <stdio.h>
#include <stdlib.h>

void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
void dtrsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m, const int* n,
            const double* alpha, const double* a, const int* lda, double* b, const int* ldb);

static double* matrix(int rows, int columns) {
  double* const made = malloc(sizeof(double) * (size_t)rows * (size_t)columns);
  if (made == NULL) exit(3);
  for (int i = 0; i < rows * columns; i++) made[i] = 1 + i % 7;
  return made;
}

int main(void) {
  const int n = 60;
  const double one = 1, zero = 0;
  double* const a = matrix(n, n);
  double* const b = matrix(n, n);
  double* const c = matrix(n, n);
  for (int i = 0; i < n; i++) a[i + i * n] = 4 * n;
  dgemm_("N", "T", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
  dtrsm_("L", "L", "N", "N", &n, &n, &one, a, &n, c, &n);
  double sum = 0;
  for (int i = 0; i < n * n; i++) sum += c[i];
  printf("%.6g\n", sum);
  free(a);
  free(b);
  free(c);
  return 0;
}
