// Loops that are entered at their beginning and in their middle by turns: where an iteration begins is a matter of
// opinion. Each block stores, so that its iterations can be told apart.
#include <stdio.h>

enum { kSize = 64 };
static long a[kSize + 1], b[kSize + 1];

__attribute__((noinline)) static long go(int inside, long n) {
  long i = 0;
  long sum = 0;
  if (inside) goto middle;
beginning:
  a[i] = b[i] + i;
  __asm__ volatile("" : "+r"(i));
middle:
  sum += a[i];
  b[i + 1] = sum;
  __asm__ volatile("" : "+r"(i));
  if (++i < n) goto beginning;
  return sum;
}

int main(void) {
  long sum = 0;
  for (int i = 0; i < 40; ++i) sum += go(i % 3 == 0, 20 + i);
  printf("%ld\n", sum);
  return 0;
}
