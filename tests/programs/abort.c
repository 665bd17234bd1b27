// Prints to both streams, then calls abort().
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  puts("about to abort");
  fflush(stdout);
  fputs("aborting\n", stderr);
  abort();
}
