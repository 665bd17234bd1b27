// Says nothing and exits with status 42, from a function below main.
#include <stdlib.h>

static void __attribute__((noinline)) leave(int status) { exit(status); }

int main(void) {
  leave(42);
  return 0;
}
