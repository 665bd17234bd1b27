// One layer of a neural network, the running example of the papers: the weights are rows of their own, one malloc each,
// and the inner loop goes down a column.
//
// static: sizes N = 9, K = 14
// static: Z[j] : 0 <= j < N
// static:   order [j, 0]
// static:   writes sum[]
// static: S[j, k] : 0 <= j < N and 0 <= k <= K
// static:   order [j, 1, k]
// static:   reads sum[], conn[k, j + 1], l1[k]
// static:   writes sum[]
// static: W[j] : 0 <= j < N
// static:   order [j, 2]
// static:   reads sum[]
// static:   writes l2[j + 1]
//
// Two of three loads are near along k: the pointer to the row and l1; along j all are. j and k may change places once
// sum has an element for each j. See advice/backprop.c.
//
// advice: run 24 60
#include "kernel.h"

KERNEL void layer_forward(double* l1, double* l2, double** conn, int n1, int n2) {
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; simd_ops >= 80; reuse 60..70; potential_reuse >= 95
  // expect-advice: never LF-SKW
  // expect-advice: interchange j k; suggests LF-ICH j k needs expand; suggests LF-PAR j; stride01 >= 98
  for (int j = 1; j <= n2; j++) {  // expect: parallel
    double sum = l2[0];  // Z:
    // expect-advice: stride01 67
    for (int k = 0; k <= n1; k++) {  // expect: reduction(+)
      sum += conn[k][j] * l1[k];  // S:
    }
    l2[j] = sum / (1 + sum);  // W:
  }
}

KERNEL double** rows(int count, int width) {
  double** const table = block_of(count, sizeof(double*));
  for (int i = 0; i < count; i++) table[i] = block_of(width, sizeof(double));
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < width; j++) table[i][j] = (double)(i * j % 7) / 7;
  }
  return table;
}

int main(int argc, char** argv) {
  const int n2 = size_argument(argc, argv, 1, 9);
  const int n1 = size_argument(argc, argv, 2, 14);
  double* const l2 = numbers(n2 + 1);
  layer_forward(numbers(n1 + 1), l2, rows(n1 + 1, n2 + 1), n1, n2);
  print_sum(l2, n2 + 1);
  return 0;
}
