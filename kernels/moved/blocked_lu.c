// Decomposition in blocks: the loops over the blocks of a step follow each other, and are taken for one by what a compiler
// says of their lines. Whatever is inside the first comes before what is inside the second.
#include <stdio.h>

enum { kSize = 48, kBlock = 8 };
double m[kSize][kSize];

static void corner(int at) {
  for (int k = 0; k < kBlock; k++) {
    for (int i = k + 1; i < kBlock; i++) {
      m[at + i][at + k] /= m[at + k][at + k];
      for (int j = k + 1; j < kBlock; j++) m[at + i][at + j] -= m[at + i][at + k] * m[at + k][at + j];
    }
  }
}

static void border(int at, int to) {
  for (int k = 0; k < kBlock; k++)
    for (int i = k + 1; i < kBlock; i++)
      for (int j = 0; j < kBlock; j++) m[at + i][to + j] -= m[at + i][at + k] * m[at + k][to + j];
  for (int i = 0; i < kBlock; i++)
    for (int k = 0; k < kBlock; k++) {
      m[to + i][at + k] /= m[at + k][at + k];
      for (int j = k + 1; j < kBlock; j++) m[to + i][at + j] -= m[to + i][at + k] * m[at + k][at + j];
    }
}

static void rest(int at, int row, int column) {
  for (int i = 0; i < kBlock; i++)
    for (int j = 0; j < kBlock; j++) {
      double sum = 0;
      for (int k = 0; k < kBlock; k++) sum += m[row + i][at + k] * m[at + k][column + j];
      m[row + i][column + j] -= sum;
    }
}

int main(void) {
  for (int i = 0; i < kSize; i++)
    for (int j = 0; j < kSize; j++) m[i][j] = i == j ? 50.0 : 1.0 / (1 + i + j);
  for (int at = 0; at < kSize; at += kBlock) {  // loop: verdict no unknown
    corner(at);
    for (int to = at + kBlock; to < kSize; to += kBlock) border(at, to);
    for (int row = at + kBlock; row < kSize; row += kBlock)
      for (int column = at + kBlock; column < kSize; column += kBlock) rest(at, row, column);
  }
  double sum = 0;
  for (int i = 0; i < kSize; i++) sum += m[i][i];
  printf("%.6f\n", sum);
  return 0;
}
