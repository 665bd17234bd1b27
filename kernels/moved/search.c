// Loops that are left where their iterations find something: how many there are is not known before they run, even if
// what they look at is made of their number alone.
#include <stdio.h>

enum { N = 20000 };
int out[N];
volatile int start = 5;  // or a compiler finds out by itself where a loop ends

static unsigned mixed(unsigned x) {
  x *= 2654435761u;
  x ^= x >> 15;
  x *= 2246822519u;
  return x ^ x >> 13;
}

int main(void) {
  int first = -1, factor = 0, root = 0;
  for (int i = 0; i < N; i++) {  // loop: verdict no unknown
    const unsigned m = mixed((unsigned)i);
    if ((m & 4095) == 77) { first = i; break; }
    out[i] = (int)(m & 255);
  }
  const int n = 3001 * 2999;
  for (int d = 3; d < n; d += 2) {  // loop: verdict no unknown
    if (n % d == 0) { factor = d; break; }
  }
  for (int i = 1; i < 5000; i++) {  // loop: verdict no unknown
    if (i * i > 1234577) break;
    root = i;
  }
  int low = 0, bits = 0;
  for (int i = 77; i < 50000; i += 77) {  // loop: verdict no unknown
    if ((i & 63) == 0) break;
    low = i;
  }
  for (int i = start; i < 50000; i += 7) {  // loop: verdict no unknown
    if ((unsigned char)i == 3) break;
    bits = i;
  }
  long sum = 0;
  for (int i = 0; i < N; i++) sum += out[i];  // loop: verdict reduction
  printf("%d %d %d %d %d %ld\n", first, factor, root, low, bits, sum);
  return 0;
}
