// Writes N lines to a file, each after a fixed amount of computing: progress that can be read from outside.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kCells = 512, kPasses = 12 };
static unsigned cells[kCells];

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int lines = atoi(argv[1]);
  int file = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return 2;
  for (int line = 0; line < lines; line++) {
    for (int pass = 0; pass < kPasses; pass++) {
      for (int i = 1; i < kCells; i++) cells[i] = cells[i] * 1664525u + cells[i - 1] + (unsigned)line;
    }
    char text[40];
    int length = snprintf(text, sizeof text, "%d %u\n", line, cells[kCells - 1]);
    if (write(file, text, (size_t)length) != length) return 2;
  }
  close(file);
  return 0;
}
