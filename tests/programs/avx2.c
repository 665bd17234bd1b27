// AVX2 and FMA: vector arithmetic, and gathers with all, some and no lanes masked on.
#include <immintrin.h>
#include <stdio.h>

int main(void) {
  static float x[512], y[512];
  static double d[512];
  static int index[512];
  for (int i = 0; i < 512; i++) {
    x[i] = (float)i * 0.25f;
    y[i] = (float)(512 - i);
    d[i] = i * 0.5;
    index[i] = i * 129 % 512;
  }
  __m256 sum = _mm256_setzero_ps();
  for (int i = 0; i < 512; i += 8) sum = _mm256_fmadd_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i), sum);
  float parts[8];
  _mm256_storeu_ps(parts, sum);
  for (int i = 0; i < 8; i++) printf("%.2f ", parts[i]);
  putchar('\n');

  __m256d gathered = _mm256_setzero_pd();
  __m256 lanes = _mm256_setzero_ps();
  for (int i = 0; i < 512; i += 8) {
    __m128i four = _mm_loadu_si128((const __m128i*)(index + i));
    __m256i eight = _mm256_loadu_si256((const __m256i*)(index + i));
    __m256d some = _mm256_castsi256_pd(_mm256_set_epi64x(-(i & 8), -1, i & 16 ? -1 : 0, -1));
    __m256 mask = _mm256_castsi256_ps(_mm256_cmpgt_epi32(eight, _mm256_set1_epi32(i)));
    gathered = _mm256_add_pd(gathered, _mm256_i32gather_pd(d, four, 8));
    gathered = _mm256_add_pd(gathered, _mm256_mask_i32gather_pd(_mm256_setzero_pd(), d, four, some, 8));
    lanes = _mm256_add_ps(lanes, _mm256_mask_i32gather_ps(_mm256_set1_ps(1), x, eight, mask, 4));
  }
  // No lane on: the base may even be null.
  lanes = _mm256_add_ps(lanes, _mm256_mask_i32gather_ps(_mm256_set1_ps(2), (const float*)0, _mm256_setzero_si256(),
                                                        _mm256_setzero_ps(), 4));
  double out[4];
  _mm256_storeu_pd(out, gathered);
  _mm256_storeu_ps(parts, lanes);
  for (int i = 0; i < 4; i++) printf("%.2f ", out[i]);
  for (int i = 0; i < 8; i++) printf("%.2f ", parts[i]);
  __m256i words =
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i*)index), _mm256_set_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  printf("%d\n", _mm256_extract_epi32(_mm256_abs_epi32(words), 2));
  return 0;
}
