// Binary searches in a loop: an inner loop with a logarithmic trip count that depends on data.
#include "counted.h"

enum { kMost = 600 };
static int sorted[kMost];

KERNEL int lower_bound(int n, int key) {
  int low = 0, high = n;
  ENTER(1);
  while (low < high) {
    ITERATE(1);
    int middle = low + (high - low) / 2;
    if (sorted[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

int main(void) {
  int n = bound(587), queries = bound(100);
  long sum = 0;
  ENTER(2);
  for (int i = 0; i < n; i++) {
    ITERATE(2);
    sorted[i] = i * 3 + i % 2;
  }
  ENTER(0);
  for (int query = 0; query < queries; query++) {
    ITERATE(0);
    sum += lower_bound(n, (int)(noise((unsigned)query) % 2000));
  }
  return print_loops(sum);
}
