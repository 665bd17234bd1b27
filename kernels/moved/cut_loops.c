// Conditions on the counter: a compiler makes a loop of the iterations with i < N / 2 inside the loop of all of them. What
// these leave for the others, or for behind the loop, is left by iterations of one loop.
#include <stdio.h>

enum { N = 3000 };
int a[N], c[N];

int main(void) {
  int v = -2, w = 9;
  for (int i = 0; i < N; i++) a[i] = (i * 7919) % 997;
  for (int i = 0; i < N; i++) { if (i < N / 2) w = i * 2; else c[i] ^= w; }  // loop: verdict no unknown
  for (int i = 0; i < N; i++) {  // loop: needs \bv\b
    if (i < N / 2) { v = a[i]; c[i] += v; }
  }
  unsigned h = 0;
  for (int i = 0; i < N; i++) h = h * 31 + (unsigned)c[i];
  printf("%u %d %d\n", h, v, w);
  return 0;
}
