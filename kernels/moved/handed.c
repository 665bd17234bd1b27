// A variable that the next iteration copies, and that only code behind the loop uses.
#include <stdio.h>

enum { N = 4001 };
int a[N], c[N];

__attribute__((noinline)) void last_two(int* out) {
  int p = 1, q = 2;
  for (int i = 0; i < N; i++) {  // loop: needs nothing
    c[i] += i;
    p = q;
    q = a[i];
  }
  out[0] = p;
  out[1] = q;
}

int main(void) {
  int out[2];
  for (int i = 0; i < N; i++) a[i] = i * 7919 % 1009;
  last_two(out);
  printf("%d %d %d\n", out[0], out[1], c[7]);
  return 0;
}
