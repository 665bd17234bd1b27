// Built with -gsplit-dwarf, which Valgrind 3.19 cannot load.
#include <stdio.h>

int main(void) {
  puts("split");
  return 0;
}
