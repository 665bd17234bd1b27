// Writes interleaved lines to stdout and stderr, through stdio and write(2).
#include <stdio.h>
#include <unistd.h>

int main(void) {
  for (int i = 0; i < 20; i++) {
    fprintf(stdout, "out %d\n", i);
    fprintf(stderr, "err %d\n", i);
    if (write(STDERR_FILENO, "raw\n", 4) != 4) return 1;
  }
  return 0;
}
