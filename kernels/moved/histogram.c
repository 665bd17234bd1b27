// Counts in cells that data choose. Without optimisation the cell's address is computed twice, in two ways.
#include <stdio.h>

enum { N = 4000 };
int a[N], counts[32];

__attribute__((noinline)) void count(void) {
  for (int i = 0; i < N; i++) counts[a[i] % 32]++;  // loop: verdict reduction; needs \+:counts
}

__attribute__((noinline)) void weigh(void) {
  for (int i = 0; i < N; i++) counts[a[i] % 32] += a[i];  // loop: verdict reduction; needs \+:counts
}

__attribute__((noinline)) void shift(void) {
  for (int i = 0; i < N; i++) counts[(a[i] + 1) % 32] = counts[a[i] % 32] + 1;  // loop: verdict no unknown
}

int main(void) {
  unsigned r = 3;
  for (int i = 0; i < N; i++) {
    r = r * 1664525u + 1013904223u;
    a[i] = (r >> 12) % 1000;
  }
  count();
  weigh();
  shift();
  printf("%d\n", counts[3]);
  return 0;
}
