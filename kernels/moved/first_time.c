// Work of the first iteration, which a compiler does before the loop.
#include <stdio.h>

enum { N = 4000 };
double a[N], b[N], table[16];
int ready;

__attribute__((noinline)) void fill_once(int n) {
  for (int i = 0; i < n; i++) {  // loop: verdict no unknown
    if (!ready) {
      for (int k = 0; k < 16; k++) table[k] = k * a[k];
      ready = 1;
    }
    b[i] = table[i & 15] * a[i];
  }
}

int main(int argc, char** argv) {
  (void)argv;
  for (int i = 0; i < N; i++) a[i] = i + 1;
  fill_once(N - 1 + argc);
  printf("%g\n", b[7]);
  return 0;
}
