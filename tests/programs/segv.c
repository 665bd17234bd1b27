// Prints, then is killed by SIGSEGV in a function below main.
#include <stdio.h>

static void __attribute__((noinline)) store(volatile int* where) { *where = 1; }

int main(void) {
  puts("about to fault");
  fflush(stdout);
  store((volatile int*)8);
  puts("not reached");
  return 0;
}
