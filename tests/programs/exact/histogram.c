// A histogram with indirection, read-modify-write in memory, and data-dependent branches.
#include <stdint.h>
#include <stdio.h>

#include "sentinel.h"

static uint8_t input[3000];
static uint32_t bins[256];
static uint16_t largest;

int main(void) {
  uint32_t x = 12345;
  for (unsigned i = 0; i < sizeof input; i++) {
    x = x * 1103515245 + 12345;
    input[i] = (uint8_t)(x >> 16);
  }
  SENTINEL_BEGIN();
  for (unsigned i = 0; i < sizeof input; i++) {
    bins[input[i]]++;
    if (bins[input[i]] > largest) largest = (uint16_t)bins[input[i]];
  }
  uint32_t running = 0;
  for (int i = 0; i < 256; i++) {
    running += bins[i];
    bins[i] = running;
  }
  SENTINEL_END();
  printf("%u %u %u\n", bins[0], bins[255], largest);
  return 0;
}
