// Executes an AVX-512 instruction, which the recorder cannot; natively it needs such a processor.
#include <stdio.h>

typedef int Vector __attribute__((vector_size(64)));

static volatile int input[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static Vector vector;

static void __attribute__((noinline)) add(void) {
  vector = vector + 7;  // the line to name
}

int main(void) {
  puts("before");
  fflush(stdout);
  for (int i = 0; i < 16; i++) ((volatile int*)&vector)[i] = input[i];
  add();
  int sum = 0;
  for (int i = 0; i < 16; i++) sum += ((volatile int*)&vector)[i];
  printf("%d\n", sum);
  return 0;
}
