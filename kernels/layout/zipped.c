// Two arrays of different types that are always used together become one array of pairs.
//
// map: { weight[e] -> [e, 0] } { index[e] -> [e, 1] }
#include "data.h"

static double gather(int n, const double* weight, const int* index, double* sum) {
  double total = 0;
#pragma layout map(in: weight(e) -> (e, 0) : double[n]) map(in: index(e) -> (e, 1) : int[n])
  for (int i = 0; i < n; i++) {
    sum[index[i] % 10] += weight[i];
    total += weight[index[i] % n] * (index[i] > 5 ? 2 : 1);
  }
  return total;
}

int main(int argc, char** argv) {
  const int n = size_from(argc, argv, 1, 1000);
  double* const weight = malloc((size_t)n * sizeof *weight);
  int* const index = malloc((size_t)n * sizeof *index);
  double sum[10] = {0};
  for (int i = 0; i < n; i++) weight[i] = number(i), index[i] = i * 7919 % n;
  const double total = gather(n, weight, index, sum);
  print_bits("total", &total, sizeof total);
  print_bits("sum", sum, sizeof sum);
  free(weight);
  free(index);
  return 0;
}
