// Three parts, of which --from and --only record some.
#include <stdio.h>

enum { kBefore = 11, kKernels = 4, kRows = 6, kColumns = 7, kAfter = 13 };
static volatile long sum;

__attribute__((noinline)) void before(void) {
  for (int i = 0; i < kBefore; i++) sum = sum + i;  // @before
}
__attribute__((noinline)) void row(int n) {
  for (int i = 0; i < n; i++) sum = sum + i;  // @row
}
__attribute__((noinline)) void kernel(void) {
  for (int i = 0; i < kRows; i++) row(kColumns);  // @kernel
}
__attribute__((noinline)) void after(void) {
  for (int i = 0; i < kAfter; i++) sum = sum + i;  // @after
}

int main(void) {
  before();
  for (int i = 0; i < kKernels; i++) kernel();  // @kernels
  after();
  printf("before %d\nkernels %d\nrows %d\ncolumns %d\nafter %d\n", kBefore, kKernels, kRows, kColumns, kAfter);
  return 0;
}
