// A histogram for each row of a table, in one loop. The row is k / m, but where in a histogram an element counts is in
// the data: no nest makes the counts' addresses affine.
//
// advice: run 40 50
// advice: builds -O0 -O1 -O2
#include "../kernel.h"

enum { kBins = 16 };

KERNEL void count(int n, int m, const int* keys, int* bins) {
  // expect-advice: affine <= 60; hidden none
  for (int k = 0; k < n * m; k++) {  // expect: reduction(+)
    bins[k / m * kBins + keys[k]]++;
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 40);
  const int m = size_argument(argc, argv, 2, 50);
  int* const bins = integers((long)n * kBins, 1);
  count(n, m, integers((long)n * m, kBins), bins);
  print_integer_sum(bins, (long)n * kBins);
  return 0;
}
