// Conditional vector loads and stores: vmaskmov of floats and integers, maskmovdqu, and faults avoided by the mask.
#include <immintrin.h>
#include <stdio.h>
#include <sys/mman.h>

int main(void) {
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE) != 0) return 1;
  float* edge = (float*)(pages + 4096) - 3;
  edge[0] = 1.5f, edge[1] = 2.5f, edge[2] = 3.5f;
  __m256i three = _mm256_set_epi32(0, 0, 0, 0, 0, -1, -1, -1);
  __m256 v = _mm256_maskload_ps(edge, three);
  _mm256_maskstore_ps(edge, three, _mm256_add_ps(v, v));
  printf("%.1f %.1f %.1f\n", edge[0], edge[1], edge[2]);

  static int from[64], to[64];
  long sum = 0;
  for (int i = 0; i < 64; i++) from[i] = i * 11 % 17;
  for (int i = 0; i < 64; i += 8) {
    __m256i values = _mm256_loadu_si256((const __m256i*)(from + i));
    __m256i mask = _mm256_cmpgt_epi32(values, _mm256_set1_epi32(6));
    _mm256_maskstore_epi32(to + i, mask, _mm256_maskload_epi32(from + i, mask));
  }
  for (int i = 0; i < 64; i++) sum += to[i] * (i + 1);
  printf("%ld\n", sum);

  char bytes[17] = "................";
  __m128i letters = _mm_loadu_si128((const __m128i*)"ABCDEFGHIJKLMNOP");
  __m128i select = _mm_set_epi8(0, -1, 0, -1, -1, 0, 0, 0, -1, -1, -1, 0, 0, 0, 0, -1);
  _mm_maskmoveu_si128(letters, select, bytes);
  puts(bytes);
  return 0;
}
