// Calls through pointers: a table of functions, qsort and bsearch callbacks, a pointer to a libm function.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static int negate(int x) { return -x; }
static int by_value(const void* a, const void* b) {
  int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

int main(void) {
  int (*const table[])(int) = {twice, square, negate};
  double (*volatile root)(double) = sqrt;
  long sum = 0;
  static int values[500];
  for (int i = 0; i < 500; i++) values[i] = table[i % 3](i * 37 % 101);
  for (int i = 0; i < 500; i++) sum += values[i];
  qsort(values, 500, sizeof values[0], by_value);
  int key = -50;
  int* found = bsearch(&key, values, 500, sizeof values[0], by_value);
  printf("%ld %d %d %s %.3f\n", sum, values[0], values[499], found ? "found" : "missing", root(2.25));
  return 0;
}
