// x87 long double arithmetic on values that are exact in 64-bit precision, which is what Valgrind computes with.
#include <math.h>
#include <stdio.h>

static long double __attribute__((noinline)) poly(long double x) { return ((0.5L * x - 1.25L) * x + 3.0L) * x - 8.0L; }

int main(void) {
  volatile long double sum = 0;
  long double row[16];
  for (int i = 0; i < 16; i++) row[i] = i * 0.25L;
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 16; i++) sum = sum + poly(row[i]) * (round % 4);
  }
  volatile long long integer = 123456789;
  long double from_integer = integer, root = sqrtl(6.25L), magnitude = fabsl(-2.5L);
  long long truncated = (long long)(from_integer / 4);
  printf("%.6Lf %.3Lf %.3Lf %.3Lf %lld\n", sum, from_integer, root, magnitude, truncated);
  printf("%d %d %.1Lf\n", sum > root, isnan(sum), root < magnitude ? root : magnitude);
  unsigned short control;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  printf("control %04x\n", control & 0x0c00);
  return 0;
}
