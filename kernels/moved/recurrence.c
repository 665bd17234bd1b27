// An element that is computed from the one before. An optimising compiler keeps that in a register, where a sum of
// integers looks like a counter.
#include <stdio.h>

enum { N = 4000 };
int x[N + 8];
long p[N];

__attribute__((noinline)) void count_up(int n) {
  for (int i = 1; i < n; i++)  // loop: verdict no unknown
    x[i] = x[i - 1] + 1;
}

__attribute__((noinline)) void offsets(int n, int size) {
  for (int i = 1; i < n; i++)  // loop: verdict no unknown
    p[i] = p[i - 1] + size * 8;
}

__attribute__((noinline)) void four_before(int n) {
  for (int i = 0; i < n; i++)  // loop: verdict no unknown
    x[i + 4] = x[i] + 1;
}

__attribute__((noinline)) void spread(int n) {
  for (int i = 0; i < n; i++)  // loop: verdict no unknown
    x[i + 1] = x[i];
}

int main(int argc, char** argv) {
  (void)argv;
  x[0] = argc * 7;
  p[0] = argc * 5;
  count_up(N - 1 + argc);
  offsets(N - 1 + argc, argc + 3);
  printf("%d %ld\n", x[N - 2], p[N - 2]);
  for (int i = 0; i < 8; i++) x[i] = i * i;
  four_before(N - 1 + argc);
  printf("%d\n", x[N - 2]);
  spread(N - 1 + argc);
  printf("%d\n", x[N - 2]);
  return 0;
}
