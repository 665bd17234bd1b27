// A histogram: indirect updates, then the largest bin.
#include "counted.h"

enum { kMost = 2000, kBins = 64 };
static unsigned char samples[kMost];
static int bins[kBins];

KERNEL void fill(int n) {
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    samples[i] = (unsigned char)(noise((unsigned)i) % kBins);
  }
}

KERNEL void count(int n) {
  ENTER(1);
  for (int i = 0; i < n; i++) {
    ITERATE(1);
    bins[samples[i]]++;
  }
}

KERNEL int largest(int n) {
  int best = 0;
  ENTER(2);
  for (int i = 1; i < n; i++) {
    ITERATE(2);
    if (bins[i] > bins[best]) best = i;
  }
  return best;
}

int main(void) {
  int n = bound(1900);
  fill(n);
  count(n);
  return print_loops(largest(bound(kBins)));
}
