// Runs all kernels of this directory, one after the other. Each is compiled with its main renamed to NAME_main, and
// KERNELS lists them: X(matrix_product) X(prefix_sum) ...
#include <stdio.h>

#define X(name) int name##_main(void);
KERNELS
#undef X

int main(void) {
#define X(name)                 \
  printf("kernel " #name "\n"); \
  name##_main();
  KERNELS
  return 0;
}
