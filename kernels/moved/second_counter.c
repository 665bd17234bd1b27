// Counters beside that of the loop: each iteration can compute them, but not from a copy of what they were before.
#include <stdio.h>

enum { N = 4000 };
unsigned u[N];
int c[3 * N];

int main(void) {
  unsigned s = 7;
  for (int i = 0; i < N; i++) {  // loop: verdict yes; never firstprivate\(s\)
    u[i] = s ^ (s >> 7);
    s += 0x9e3779b9U;
  }
  int k = 1;
  for (int i = 0; i < N; i++) {  // loop: verdict yes; never firstprivate\(k\)
    c[k] = i;
    k += 3;
  }
  int m = 5;
  for (int i = 0; i < N; i++, m += 2)  // loop: verdict yes unknown; never firstprivate\(m\); at -O0 needs linear\(m
    c[i] += m;
  unsigned h = 0;
  for (int i = 0; i < N; i++) h = h * 31 + u[i] + (unsigned)c[3 * i + 1];
  printf("%u %d\n", h, k);
  return 0;
}
