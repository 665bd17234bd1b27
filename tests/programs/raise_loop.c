// Raises SIGUSR1 in a loop that allocates; the handler computes, and the loop frees.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile long handled;

static void handler(int signal) {
  (void)signal;
  for (int i = 0; i < 50; i++) handled = handled + i;
}

int main(void) {
  signal(SIGUSR1, handler);
  long sum = 0;
  for (int i = 1; i <= 100; i++) {
    char* block = malloc((size_t)i * 17);
    memset(block, i, (size_t)i * 17);
    raise(SIGUSR1);
    sum += block[i];
    free(block);
  }
  printf("handled %ld, sum %ld\n", handled, sum);
  return 0;
}
