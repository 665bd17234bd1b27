// SSE2, scalar and vector: arithmetic, conversions, shuffles, comparisons and unaligned accesses.
#include <emmintrin.h>
#include <stdio.h>

int main(void) {
  static double a[256] __attribute__((aligned(16))), b[257];
  static int n[256] __attribute__((aligned(16)));
  for (int i = 0; i < 256; i++) {
    a[i] = i * 0.5;
    b[i] = (256 - i) * 0.25;
    n[i] = i * i % 97;
  }
  __m128d sum = _mm_setzero_pd();
  for (int i = 0; i + 2 <= 256; i += 2) {
    __m128d product = _mm_mul_pd(_mm_load_pd(a + i), _mm_loadu_pd(b + i + 1));
    sum = _mm_add_pd(sum, _mm_max_pd(product, _mm_set1_pd(3.0)));
  }
  double parts[2];
  _mm_storeu_pd(parts, sum);
  __m128i total = _mm_setzero_si128();
  for (int i = 0; i + 4 <= 256; i += 4) {
    __m128i v = _mm_load_si128((const __m128i*)(n + i));
    __m128i big = _mm_and_si128(v, _mm_cmpgt_epi32(v, _mm_set1_epi32(40)));
    total = _mm_add_epi32(total, _mm_shuffle_epi32(big, 0x1b));
  }
  int counts[4];
  _mm_storeu_si128((__m128i*)counts, total);
  double scalar = 0;
  for (int i = 1; i < 256; i++) scalar = scalar * 0.5 + a[i] / i;
  printf("%.4f %.4f %d %d %d %d %.6f %d\n", parts[0], parts[1], counts[0], counts[1], counts[2], counts[3], scalar,
         _mm_movemask_pd(_mm_cmplt_pd(sum, _mm_set1_pd(1e5))));
  return 0;
}
