// solve is called with one set of constants only: at -O2 all that is left of it is a clone, solve.constprop.0.
#include <stdio.h>

static __attribute__((noinline)) long solve(const char* name, int mask, long steps) {
  long sum = 0;
  for (long i = 0; i < steps; i++) sum += i ^ mask;
  if (!name) puts("no name");
  return sum;
}

int main(int argc, char** argv) {
  (void)argv;
  printf("%ld\n", solve("a", 7, argc * 1000L) + solve("a", 7, argc * 2000L));
  return 0;
}
