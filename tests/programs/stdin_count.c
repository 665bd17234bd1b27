// Reads standard input to its end, counting bytes, words and lines.
#include <ctype.h>
#include <stdio.h>

int main(void) {
  long bytes = 0, words = 0, lines = 0;
  unsigned hash = 2166136261u;
  int inside = 0, c;
  while ((c = getchar()) != EOF) {
    bytes++;
    lines += c == '\n';
    words += !isspace(c) && !inside;
    inside = !isspace(c);
    hash = (hash ^ (unsigned)c) * 16777619u;
  }
  printf("%ld bytes, %ld words, %ld lines, hash %08x\n", bytes, words, lines, hash);
  return 0;
}
