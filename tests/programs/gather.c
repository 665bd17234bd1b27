// Gathers under masks: prints the address of every lane that is loaded, in order, for comparison with the trace.
#include <immintrin.h>
#include <stdio.h>

static double table[64];

int main(void) {
  for (int i = 0; i < 64; i++) table[i] = i;
  double sum = 0;
  for (int round = 0; round < 4; round++) {
    const __m128i index = _mm_set_epi32(60 - round, 3 * round, 17, round);
    const long long on = -1;
    const __m256d mask = _mm256_castsi256_pd(
        _mm256_set_epi64x(round & 1 ? on : 0, round & 2 ? on : 0, on, round == 3 ? 0 : on));
    const __m256d got = _mm256_mask_i32gather_pd(_mm256_setzero_pd(), table, index, mask, 8);
    double lanes[4];
    _mm256_storeu_pd(lanes, got);
    for (int i = 0; i < 4; i++) sum += lanes[i];
    const int at[4] = {round, 17, 3 * round, 60 - round};
    const int active[4] = {round != 3, 1, (round & 2) != 0, (round & 1) != 0};
    for (int i = 0; i < 4; i++) {
      if (active[i]) printf("lane %p\n", (void*)&table[at[i]]);
    }
  }
  printf("sum %g\n", sum);
  return 0;
}
