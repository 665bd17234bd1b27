// A column sum over rows of 512 doubles: all elements of a column share few cache sets. Eight unused cells behind each
// row spread them.
//
// map: { table[r, c] -> [r, c] }
#include "data.h"

enum { kRows = 128, kColumns = 512 };

static double table[kRows][kColumns];

int main(void) {
  double sums[kColumns];
  for (int r = 0; r < kRows; r++)
    for (int c = 0; c < kColumns; c++) table[r][c] = number(r + 31 * c);
#pragma layout map(inout: table(r,c) -> (r, c) : double[kRows, kColumns]) pad(table: 0, 8)
  for (int c = 0; c < kColumns; c++) {
    sums[c] = 0;
    for (int r = 0; r < kRows; r++) sums[c] += table[r][c]++;
  }
  print_bits("sums", sums, sizeof sums);
  print_bits("table", table, sizeof table);
  return 0;
}
