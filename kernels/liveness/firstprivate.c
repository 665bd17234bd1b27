// A table with values from before the loop; each iteration puts something into its first place before it reads all.
//
// check: parallel I => private table
#include "liveness.h"

enum { N = 40, M = 4 };
double in[N], out[N], table[M] = {1, 2, 3, 4};

#ifdef TRANSFORMED
KERNEL void kernel(void) {
#ifdef TWIN
  double own[N][M];
  for (int i = 0; i < N; i++) memcpy(own[i], table, sizeof table);
#define table own[i]
#endif
  for (int i = 0; i < N; i++) table[0] = in[i];
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int j = 0; j < M; j++) sum += table[j];
    out[i] = sum;
  }
#undef table
}
#else
KERNEL void kernel(void) {
  double sum;
  for (int i = 0; i < N; i++) {  // I reuse: firstprivate table, private sum
    table[0] = in[i];
    sum = 0;
    for (int j = 0; j < M; j++) sum += table[j];
    out[i] = sum;
  }
}
#endif

int main(void) {
  fill(in, N);
  kernel();
  printf("%.6f\n", checksum(out, N));
  return 0;
}
