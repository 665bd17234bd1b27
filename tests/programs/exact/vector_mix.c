// x87 with 4, 8 and 10-byte operands, AVX2 and FMA of 16 and 32 bytes, gathers with every lane on, masked stores.
#include <immintrin.h>
#include <stdio.h>

#include "sentinel.h"

enum { kN = 256 };
static float x[kN], y[kN], z[kN];
static double d[kN];
static long double extended[16];
static int order[kN];

static void __attribute__((noinline)) saxpy(void) {
  __m256 factor = _mm256_set1_ps(1.5f);
  for (int i = 0; i < kN; i += 8) {
    _mm256_storeu_ps(z + i, _mm256_fmadd_ps(factor, _mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)));
  }
}

static void __attribute__((noinline)) gather(void) {
  for (int i = 0; i < kN; i += 4) {
    __m128i index = _mm_loadu_si128((const __m128i*)(order + i));
    __m256d all = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
    __m256d values = _mm256_mask_i32gather_pd(_mm256_setzero_pd(), d, index, all, 8);
    _mm_storeu_ps(y + i, _mm256_cvtpd_ps(values));
  }
}

static void __attribute__((noinline)) masked(void) {
  for (int i = 0; i < kN; i += 8) {
    __m256i values = _mm256_loadu_si256((const __m256i*)(order + i));
    _mm256_maskstore_ps(x + i, _mm256_set1_epi32(-1), _mm256_cvtepi32_ps(values));
  }
}

static void __attribute__((noinline)) x87(void) {
  for (int i = 0; i < 16; i++) extended[i] = (long double)x[i] * 0.5L + d[i];
  for (int i = 1; i < 16; i++) extended[i] += extended[i - 1];
  for (int i = 0; i < 16; i++) d[i] = (double)extended[i];
}

int main(void) {
  for (int i = 0; i < kN; i++) {
    x[i] = (float)i;
    y[i] = (float)(kN - i);
    d[i] = i * 0.25;
    order[i] = i * 77 % kN;
  }
  SENTINEL_BEGIN();
  saxpy();
  gather();
  masked();
  x87();
  SENTINEL_END();
  printf("%.2f %.2f %.2f %.2f %.2Lf\n", z[10], y[20], x[30], d[15], extended[15]);
  return 0;
}
