// Killed by SIGFPE: an integer division by zero.
#include <stdio.h>

int main(int argc, char** argv) {
  (void)argv;
  volatile int number = 100, zero = argc - argc;
  puts("dividing");
  fflush(stdout);
  printf("%d\n", number / zero);
  return 0;
}
