// B = transpose of A, both in blocks of 16 by 16, of fixed size.
//
// map: { A[i, j] -> [0, floor(i/16), floor(j/16), i mod 16, j mod 16] } { B[i, j] -> [1, floor(i/16), floor(j/16), i mod 16, j mod 16] }
#include "data.h"

#define ROWS 50
#define COLUMNS 35

static float A[ROWS][COLUMNS], B[COLUMNS][ROWS];

int main(void) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) A[i][j] = (float)number(i * 13 + j);
#pragma layout map(in: A(i,j) -> (0, i/16, j/16, i%16, j%16) : float[ROWS, COLUMNS]) map(out: B(i,j) -> (1, i/16, j/16, i%16, j%16) : float[COLUMNS, ROWS])
  for (int ii = 0; ii < ROWS; ii += 16)
    for (int jj = 0; jj < COLUMNS; jj += 16)
      for (int i = ii; i < ii + 16 && i < ROWS; i++)
        for (int j = jj; j < jj + 16 && j < COLUMNS; j++) B[j][i] = A[i][j];
  print_bits("B", B, sizeof B);
  return 0;
}
