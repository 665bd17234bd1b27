// Built by GCC only. What is there before a loop, and goes round it: tables in the frame that are filled element by
// element, and addresses and pointers that inner loops push out of their registers. None of it is handed from iteration
// to iteration.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 8, ORDER = 40, WIDE = 40, TILE = 9, ROUND = 17, POINTS = 6, GRID = 20 };

/// A block of the matrix is copied to the frame first: its stores look like spills.
__attribute__((noinline)) void along_a_row(float* a, int n) {
  for (int o = 0; o < n; o += B) {
    float t[B][B];
    for (int i = 0; i < B; i++)
      for (int j = 0; j < B; j++) t[i][j] = a[(o + i) * n + o + j];
    for (int c = 1; c < (n - o) / B; c++) {  // loop: verdict yes
      for (int j = 0; j < B; j++) {          // loop: verdict yes unknown
        for (int i = 0; i < B; i++) {        // loop: verdict no
          float sum = 0;
          for (int k = 0; k < i; k++) sum += t[i][k] * a[(o + k) * n + o + B * c + j];
          a[(o + i) * n + o + B * c + j] -= sum;
        }
      }
      for (int i = 0; i < B; i++) {    // loop: verdict yes
        for (int j = 0; j < B; j++) {  // loop: verdict no
          float sum = 0;
          for (int k = 0; k < j; k++) sum += a[(o + B * c + i) * n + o + k] * t[k][j];
          a[(o + B * c + i) * n + o + j] = (a[(o + B * c + i) * n + o + j] - sum) / t[j][j];
        }
      }
    }
  }
}

/// The address of the frame's table is computed once, and pushed out by the inner loops.
__attribute__((noinline)) void follow(float (*img)[WIDE], float (*tile)[TILE * TILE], int* px, int* py) {
  for (int p = 0; p < POINTS; p++) {  // loop: verdict yes unknown
    float found[ROUND * ROUND];
    float best = -1e30f;
    float mean = 0;
    int bx = 0;
    int by = 0;
    for (int i = 0; i < TILE * TILE; i++) mean += tile[p][i];
    mean /= TILE * TILE;
    for (int r = 0; r < ROUND; r++)  // loop: verdict yes
      for (int c = 0; c < ROUND; c++) {
        float s = 0;
        float q = 0;
        for (int i = 0; i < TILE; i++)
          for (int j = 0; j < TILE; j++) {
            int y = py[p] - ROUND / 2 + r - TILE / 2 + i;
            int x = px[p] - ROUND / 2 + c - TILE / 2 + j;
            y = y < 0 ? 0 : y >= WIDE ? WIDE - 1 : y;
            x = x < 0 ? 0 : x >= WIDE ? WIDE - 1 : x;
            s += img[y][x] * (tile[p][i * TILE + j] - mean);
            q += img[y][x] * img[y][x];
          }
        found[r * ROUND + c] = s / sqrtf(q + 1);
      }
    for (int i = 0; i < ROUND * ROUND; i++)
      if (found[i] > best) {
        best = found[i];
        bx = i % ROUND;
        by = i / ROUND;
      }
    px[p] += bx - ROUND / 2;
    py[p] += by - ROUND / 2;
  }
}

typedef struct {
  char* cells;
} Board;

/// The pointer is loaded again behind each store.
__attribute__((noinline)) void generations(Board* a, Board* b, int n, int steps) {
  for (int t = 0; t < steps; t++) {  // loop: verdict no
    for (int y = 0; y < n; y++)      // loop: verdict yes
      for (int x = 0; x < n; x++) {  // loop: verdict yes
        int c = 0;
        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) c += a->cells[((y + dy + n) % n) * n + (x + dx + n) % n];
        b->cells[y * n + x] = c == 3 || (c == 2 && a->cells[y * n + x]);
      }
    char* cells = a->cells;
    a->cells = b->cells;
    b->cells = cells;
  }
}

int main(void) {
  static float img[WIDE][WIDE];
  static float tile[POINTS][TILE * TILE];
  float* a = malloc(sizeof(float) * ORDER * ORDER);
  for (int i = 0; i < ORDER * ORDER; i++) a[i] = (float)(i * 7 % 11) + (i % (ORDER + 1) == 0 ? 50 : 0);
  along_a_row(a, ORDER);
  int px[POINTS];
  int py[POINTS];
  for (int p = 0; p < POINTS; p++) {
    px[p] = 10 + 3 * p;
    py[p] = 20;
    for (int i = 0; i < TILE * TILE; i++) tile[p][i] = (float)((i * 7 + p) % 11);
  }
  for (int i = 0; i < WIDE; i++)
    for (int j = 0; j < WIDE; j++) img[i][j] = (float)(i * (j + 3) % 29);
  follow(img, tile, px, py);
  Board one = {calloc(GRID, GRID)};
  Board two = {calloc(GRID, GRID)};
  for (int i = 0; i < GRID * GRID; i++) one.cells[i] = (char)(i * 13 % 7 < 3);
  generations(&one, &two, GRID, 4);
  double sum = 0;
  for (int i = 0; i < ORDER * ORDER; i++) sum += a[i];
  for (int p = 0; p < POINTS; p++) sum += px[p] * py[p];
  for (int i = 0; i < GRID * GRID; i++) sum += one.cells[i] * i;
  printf("%.4g\n", sum);
  return 0;
}
