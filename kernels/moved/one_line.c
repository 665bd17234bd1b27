// Two reductions with different operators in one line.
#include <stdio.h>

enum { N = 800 };
double x[N];
unsigned bits[N];

__attribute__((noinline)) void sum_and_product(double* out) {
  double s = 0, p = 1;
  // The next line is the whole loop.
  for (int i = 0; i < N; i++) { s += x[i]; p *= x[i]; }  // loop: needs \+:s; needs \*:p; never \*:s; never \+:p
  out[0] = s;
  out[1] = p;
}

__attribute__((noinline)) void or_and_and(unsigned* out) {
  unsigned o = 0, n = ~0u;
  for (int i = 0; i < N; i++) { o |= bits[i]; n &= bits[i]; }  // loop: at -O0 needs \|:o; at -O0 needs &:n; never &:o; never \|:n
  out[0] = o;
  out[1] = n;
}

int main(void) {
  double out[2];
  unsigned both[2];
  for (int i = 0; i < N; i++) x[i] = 1 + i * 37 % 101 * 1e-4, bits[i] = 64 + i % 32;
  sum_and_product(out);
  or_and_and(both);
  printf("%g %g %x %x\n", out[0], out[1], both[0], both[1]);
  return 0;
}
