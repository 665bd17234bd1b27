// Says "ready", then prints and computes until it is killed.
#include <stdio.h>

int main(void) {
  puts("ready");
  fflush(stdout);
  volatile unsigned long spins = 0;
  for (unsigned long i = 0;; i++) {
    for (int j = 0; j < 200000; j++) spins = spins + (unsigned)j;
    printf("%lu\n", i);
    fflush(stdout);
  }
}
