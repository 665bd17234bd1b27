// Iterations of a map: every value needs the one before, and there is nothing else to do. The order is the only one.
//
// advice: run 2000
#include "../kernel.h"

KERNEL double iterate(int n, double x) {
  // expect-advice: status original; suggests nothing; tile_depth <= 1; skew no; interchange none
  // expect-advice: parallel_ops <= 5; simd_ops <= 5; blocking S -> S distance 1
  for (int i = 0; i < n; i++) {  // expect: no: x of the iteration before
    x = 3.7 * x * (1 - x);       // S:
  }
  return x;
}

int main(int argc, char** argv) {
  printf("%.10g\n", iterate(size_argument(argc, argv, 1, 2000), 0.3));
  return 0;
}
