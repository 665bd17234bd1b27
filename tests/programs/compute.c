// A bit of everything in plain C, to be built in every way: matrix product, sieve, sort, strings, floating point.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSize = 32, kSieve = 4000 };
static double a[kSize][kSize], b[kSize][kSize], c[kSize][kSize];

static void multiply(void) {
  for (int i = 0; i < kSize; i++) {
    for (int j = 0; j < kSize; j++) {
      double sum = 0;
      for (int k = 0; k < kSize; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  }
}

static int sieve(void) {
  char* composite = calloc(kSieve, 1);
  int primes = 0;
  for (int i = 2; i < kSieve; i++) {
    if (composite[i]) continue;
    primes++;
    for (int j = 2 * i; j < kSieve; j += i) composite[j] = 1;
  }
  free(composite);
  return primes;
}

static int by_text(const void* x, const void* y) { return strcmp(x, y); }

int main(void) {
  for (int i = 0; i < kSize; i++) {
    for (int j = 0; j < kSize; j++) a[i][j] = i + j * 0.5, b[i][j] = i - j * 0.25;
  }
  multiply();
  double trace = 0, roots = 0;
  for (int i = 0; i < kSize; i++) trace += c[i][i];
  for (int i = 0; i < 100; i++) roots += sqrt(i) + floor(i / 3.0);
  char words[60][8];
  for (int i = 0; i < 60; i++) snprintf(words[i], sizeof words[i], "w%d", i * 37 % 61);
  qsort(words, 60, sizeof words[0], by_text);
  printf("trace %.3f, roots %.6f, primes %d, words %s..%s\n", trace, roots, sieve(), words[0], words[59]);
  return 0;
}
