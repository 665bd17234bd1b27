// Does most of its work in an atexit handler, after main has returned.
#include <stdio.h>
#include <stdlib.h>

static void after_main(void) {
  volatile long sum = 0;
  for (int i = 0; i < 100000; i++) sum = sum + i;
}

int main(void) {
  atexit(after_main);
  puts("main");
  return 0;
}
