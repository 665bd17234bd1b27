// A triangular nest of three loops: i <= j <= k.
#include "counted.h"

static int weight[5000];

KERNEL long triples(int n) {
  long sum = 0;
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    ENTER(1);
    for (int j = i; j < n; j++) {
      ITERATE(1);
      ENTER(2);
      for (int k = j; k < n; k++) {
        ITERATE(2);
        sum += weight[i] * weight[j] - weight[k];
      }
    }
  }
  return sum;
}

int main(void) {
  int n = bound(28);
  ENTER(3);
  for (int i = 0; i < n; i++) {
    ITERATE(3);
    weight[i] = (int)(noise((unsigned)i) % 50);
  }
  return print_loops(triples(n));
}
