// Loops that go round once, or not at all: nothing ever comes back to their counters.
#include <stdio.h>

enum { N = 100 };
int x[N];

__attribute__((noinline)) void channels(int n, int count) {
  for (int i = 0; i < n; i++)        // loop: verdict yes
    for (int c = 0; c < count; c++)  // loop: verdict yes
      x[i * count + c] += c;
}

__attribute__((noinline)) void odd_ones(int n) {
  for (int i = 0; i < n; i++)          // loop: verdict yes
    for (int k = 0; k < (i & 1); k++)  // loop: verdict yes
      x[i] += k + 1;
}

int main(void) {
  channels(N, 1);
  odd_ones(N);
  printf("%d %d\n", x[50], x[51]);
  return 0;
}
