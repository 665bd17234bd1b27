// An interpreter by computed goto: every instruction jumps to the next one, there is no loop statement.
#include <stdio.h>

enum { kAdd, kDouble, kMix, kNext, kHalt };
static const unsigned char code[] = {kAdd, kMix, kDouble, kAdd, kMix, kNext, kHalt};
static long steps;

static __attribute__((noinline)) unsigned run(int rounds) {
  static const void* const labels[] = {&&add, &&twice, &&mix, &&next, &&halt};
  const unsigned char* pc = code;
  unsigned a = 1, b = 1;
#define DISPATCH() \
  steps++;         \
  goto* labels[*pc++]
  DISPATCH();
add:
  a += b;
  DISPATCH();
twice:
  a *= 2;
  DISPATCH();
mix:
  b ^= a >> 3;
  DISPATCH();
next:
  if (--rounds > 0) pc = code;
  DISPATCH();
halt:
  return a ^ b;
}

int main(void) {
  unsigned result = run(500);
  printf("result %u\nsteps %ld\nrounds 500\n", result, steps);
  return 0;
}
