// A comparison function with a loop, called back by the C library's qsort.
#include <stdio.h>
#include <stdlib.h>

enum { kItems = 64, kLetters = 6 };
static unsigned char items[kItems][kLetters];
static long comparisons, compared;

static int by_letters(const void* a, const void* b) {
  const unsigned char *x = a, *y = b;
  comparisons++;
  for (int i = 0; i < kLetters; i++) {  // @compare
    compared++;
    if (x[i] != y[i]) return x[i] - y[i];
  }
  return 0;
}

int main(void) {
  for (int i = 0; i < kItems; i++) {      // @items
    for (int j = 0; j < kLetters; j++) {  // @letters
      items[i][j] = (unsigned char)((i % 20 * 37 + j * j * 11) % (3 + j));
    }
  }
  qsort(items, kItems, kLetters, by_letters);
  printf("first %d\nitems %d\nletters %d\ncomparisons %ld\ncompared %ld\n", items[0][5], kItems, kItems * kLetters,
         comparisons, compared);
  return 0;
}
