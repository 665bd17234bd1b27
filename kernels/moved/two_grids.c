// Two grids that a loop over time changes round: their sizes are loaded from one or the other, and are the same in all
// iterations of a loop inside. Not so where the loop itself goes from one to the other.
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int width, height;
  double* cells;
} Grid;

Grid fixed;

__attribute__((noinline)) void diffuse(Grid* a, Grid* b, int steps) {
  for (int t = 0; t < steps; t++) {             // loop: verdict no
    for (int y = 1; y < a->height - 1; y++)     // loop: at -O0 verdict yes
      for (int x = 1; x < a->width - 1; x++) {  // loop: at -O0 verdict yes
        const double* c = &a->cells[y * a->width + x];
        b->cells[y * b->width + x] = c[0] + 0.1 * (c[-1] + c[1] + c[-a->width] + c[a->width] - 4 * c[0]);
      }
    Grid* other = a;
    a = b;
    b = other;
  }
}

__attribute__((noinline)) int alternate(Grid* a, Grid* b, int steps) {
  int sum = 0;
  for (int t = 0; t < steps; t++) {
    for (int y = 1; y < a->height - 1; y++) {  // loop: verdict no
      a->cells[y] = y + a->width;
      Grid* other = a;
      a = b;
      b = other;
    }
    sum += (int)a->cells[1];
  }
  return sum;
}

int main(void) {
  Grid* made = malloc(sizeof *made);
  made->width = fixed.width = 20;
  made->height = fixed.height = 16;
  made->cells = calloc(20 * 16, sizeof(double));
  fixed.cells = calloc(20 * 16, sizeof(double));
  for (int i = 0; i < 20 * 16; i++) made->cells[i] = i % 7;
  diffuse(made, &fixed, 5);
  const int sum = alternate(made, &fixed, 5);
  printf("%g %d\n", made->cells[50] + fixed.cells[70], sum);
  return 0;
}
