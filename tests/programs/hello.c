// Prints one line: the smallest program worth recording.
#include <stdio.h>

int main(void) {
  puts("hello, world");
  return 0;
}
