// Prints its arguments and its environment (sorted), and exits with status 3.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char** environ;

static int by_text(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

int main(int argc, char** argv) {
  for (int i = 0; i < argc; i++) printf("argv[%d] = <%s>\n", i, argv[i]);
  size_t count = 0;
  while (environ[count]) count++;
  char** sorted = malloc((count + 1) * sizeof *sorted);
  memcpy(sorted, environ, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_text);
  for (size_t i = 0; i < count; i++) puts(sorted[i]);
  printf("%zu variables, preload %s\n", count, getenv("LD_PRELOAD") ? "set" : "not set");
  free(sorted);
  return 3;
}
