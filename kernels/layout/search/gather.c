// The table is read at places that data decides: no shape, no layout.
// search: --cores 1
// expect-layout: region gather layouts none
// expect-layout: region gather without "table: an access that is not affine"
#include <stdio.h>

enum { COUNT = 3000, SIZE = 1024 };
static int where[COUNT];
static double table[SIZE];

int main(void) {
  unsigned seed = 7;
  for (int i = 0; i < COUNT; i++) {
    seed = seed * 1664525u + 1013904223u;
    where[i] = (int)((seed >> 13) % SIZE);
  }
  for (int i = 0; i < SIZE; i++) table[i] = i % 5;
  double x = 0;
  for (int t = 0; t < 20; t++)  // region gather
    for (int i = 0; i < COUNT; i++) x = x * 0.5 + table[where[i]];
  printf("%g\n", x);
  return 0;
}
