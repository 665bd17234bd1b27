// Random stores and branches that no encoder can predict: makes a large trace. The argument is the number of steps.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t table[1 << 16];

int main(int argc, char** argv) {
  long steps = argc > 1 ? atol(argv[1]) : 100000;
  uint64_t x = 88172645463325252u, sum = 0;
  for (long i = 0; i < steps; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    uint64_t* cell = &table[x & 0xffff];
    if (x & 0x10000) {
      *cell += x;
    } else {
      sum += *cell ^ x;
    }
  }
  printf("steps %ld, sum %016llx\n", steps, (unsigned long long)sum);
  return 11;
}
