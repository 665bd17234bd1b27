// Two recursions. A sum by halves, with a loop at the leaves: each leaf is a region of its own, a plain reduction. And
// a walk through a tree whose loop over children calls the function that it is in: the recursion cuts the loop to
// pieces, so that nothing is known about it, and nothing may be suggested.
//
// advice: run 512 6
// advice: builds -O1: at -O2 a recursion may become a loop
#include "../kernel.h"

enum { kLeaf = 32 };

KERNEL double sum_of(const double* a, int n) {
  if (n <= kLeaf) {
    double s = 0;
    // expect-advice: tile_depth <= 1; never LF-ICH; never LF-TIL; never LF-SKW; suggests LF-RED i needs reduction
    for (int i = 0; i < n; i++) {  // expect: reduction(+)
      s += a[i];
    }
    return s;
  }
  return sum_of(a, n / 2) + sum_of(a + n / 2, n - n / 2);
}

KERNEL void visit(long* visits, int depth, int children) {
  visits[depth]++;
  if (depth == 0) return;
  // expect-advice: never LF-PAR; never LF-SIMD; never LF-ICH; never LF-TIL
  for (int child = 0; child < children; child++) {  // expect: unknown
    visit(visits, depth - 1, children);
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 512);
  const int depth = size_argument(argc, argv, 2, 6);
  long visits[64] = {0};
  printf("%.10g\n", sum_of(numbers(n), n));
  visit(visits, depth, 3);
  printf("%ld\n", visits[0]);
  return 0;
}
