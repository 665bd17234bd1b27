// Runs constructors, destructors and atexit handlers around main; the last handler changes the status with _exit.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void __attribute__((constructor)) before(void) { puts("constructor"); }
static void __attribute__((destructor)) after(void) {
  puts("destructor");
  fflush(stdout);
  _exit(9);
}
static void first(void) { puts("registered first, runs last"); }
static void second(void) { puts("registered second, runs first"); }

int main(void) {
  atexit(first);
  atexit(second);
  puts("main");
  return 1;
}
