// A table with values from before the loop; each iteration puts something into its first place before it reads all.
//
// check: parallel I => private table
#include "liveness.h"

enum { N = 40, M = 4 };
double in[N], out[N], table[M] = {1, 2, 3, 4};

#ifdef TRANSFORMED
KERNEL void kernel(double* to, const double* from, double* values, int m) {
#ifdef TWIN
  double own[N][M];
  for (int i = 0; i < N; i++) memcpy(own[i], values, sizeof own[i]);
#define values own[i]
#endif
  for (int i = 0; i < N; i++) values[0] = from[i];
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++) sum += values[j];
    to[i] = sum;
  }
#undef values
}
#else
KERNEL void kernel(double* to, const double* from, double* values, int m) {
  for (int i = 0; i < N; i++) {  // I reuse: firstprivate table
    values[0] = from[i];
    double sum = 0;
    for (int j = 0; j < m; j++) sum += values[j];
    to[i] = sum;
  }
}
#endif

int main(void) {
  fill(in, N);
  kernel(out, in, table, M);
  printf("%.6f\n", checksum(out, N));
  return 0;
}
