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

/// The cell is in a variable, which each mention loads anew.
__attribute__((noinline)) void by_variable(void) {
  for (int i = 0; i < N; i++) {  // loop: at -O0 verdict reduction; verdict reduction unknown; at -O0 needs \+:counts
    int m = a[i] % 32;
    counts[m] = counts[m] + 1;
  }
}

/// The variable is set by an inner loop.
__attribute__((noinline)) void nearest(void) {
  for (int i = 0; i < N; i++) {  // loop: at -O0 verdict reduction; verdict reduction no unknown; at -O0 needs \+:counts
    int best = 0;
    for (int k = 0; k < 9; k++)
      if (a[i] > 100 * k) best = k;
    counts[best]++;
  }
}

/// The variable changes between the load and the store.
__attribute__((noinline)) void moving(void) {
  for (int i = 0; i < N; i++) {  // loop: verdict no unknown
    int m = a[i] % 31;
    int before = counts[m] + 1;
    m += a[i] & 1;
    counts[m] = before;
  }
}

/// Counts in the frame, which are zero before.
__attribute__((noinline)) int in_frame(void) {
  int own[10] = {0};
  for (int i = 0; i < N; i++) {  // loop: verdict reduction unknown; at -O0 verdict reduction; at -O0 needs \+:own
    int m = a[i] % 10;
    own[m] = own[m] + 1;
  }
  int s = 0;
  for (int i = 0; i < 10; i++) s += own[i] * i;
  return s;
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
  by_variable();
  nearest();
  moving();
  printf("%d %d\n", counts[3], in_frame());
  return 0;
}
