// Matrix transposition, in place and blocked out of place, with accesses of 1, 2, 4 and 8 bytes.
#include <stdint.h>
#include <stdio.h>

#include "sentinel.h"

enum { kN = 32, kBlock = 8 };
static uint8_t bytes[kN][kN];
static uint16_t halves[kN][kN];
static uint32_t words[kN][kN], other[kN][kN];
static uint64_t longs[kN][kN];

#define TRANSPOSE(m)                   \
  for (int i = 0; i < kN; i++) {       \
    for (int j = 0; j < i; j++) {      \
      __typeof__(m[0][0]) t = m[i][j]; \
      m[i][j] = m[j][i];               \
      m[j][i] = t;                     \
    }                                  \
  }

int main(void) {
  for (int i = 0; i < kN; i++) {
    for (int j = 0; j < kN; j++) {
      bytes[i][j] = (uint8_t)(i * j);
      halves[i][j] = (uint16_t)(i * 100 + j);
      words[i][j] = (uint32_t)(i * 1000 + j);
      longs[i][j] = (uint64_t)i << 32 | (uint64_t)j;
    }
  }
  SENTINEL_BEGIN();
  TRANSPOSE(bytes)
  TRANSPOSE(halves)
  TRANSPOSE(longs)
  for (int ii = 0; ii < kN; ii += kBlock) {
    for (int jj = 0; jj < kN; jj += kBlock) {
      for (int i = ii; i < ii + kBlock; i++) {
        for (int j = jj; j < jj + kBlock; j++) other[j][i] = words[i][j];
      }
    }
  }
  SENTINEL_END();
  printf("%u %u %u %llu\n", bytes[3][4], halves[3][5], other[7][9], (unsigned long long)longs[2][30]);
  return 0;
}
