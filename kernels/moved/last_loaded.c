// What the last iteration has loaded is used behind the loop, and cannot be loaded again: the loop has overwritten it, or
// it was in a copy that each iteration has of its own. And a counter that the next loop goes on with.
#include <stdio.h>

enum { N = 6000 };
int a[N + 8], b[N], c[N];

__attribute__((noinline)) void use(int x) { printf("%d\n", x); }

int main(void) {
  int v = 0;
  int row[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int i = 0; i < N; i++) {
    a[i] = i * 7;
    b[i] = i & 15;
  }
  for (int i = 0; i < N; i++) {  // loop: needs lastprivate
    v = a[i];
    a[i] = b[i] + 1;
    c[i] ^= v;
  }
  use(v);
  for (int i = 0; i < N; i++) {  // loop: needs lastprivate
    for (int j = 0; j < 8; j++) row[j] = a[i + j] * 3;
    c[i] += row[a[i] & 7] + row[5];
  }
  use(row[5]);
  int k;
  for (k = 0; k < N - 5; k++)  // loop: at -O0 verdict yes; at -O0 needs lastprivate.k
    b[k] = a[k] * 2 + a[k + 5];
  for (; k < N; k++) b[k] = a[k];
  unsigned h = 0;
  for (k = 0; k < N; k++) h = h * 31 + (unsigned)(b[k] + c[k]);
  printf("%u\n", h);
  return 0;
}
