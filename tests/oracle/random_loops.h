// What the programs of random_loops.py share: arrays, functions to call, filling the arrays anew, a checksum.
//
// The loops here are not studied. Arrays are blocks of the heap and sizes are arguments, so that no compiler knows
// them.
#ifndef LOOPFOLD_TESTS_ORACLE_RANDOM_LOOPS_H
#define LOOPFOLD_TESTS_ORACLE_RANDOM_LOOPS_H

#include "inputs.h"

enum { kSize = 768 };

static unsigned *A, *B, *C;  // to read and to write
static unsigned* G;          // not written; conditions look at its last two bits
static unsigned* T;          // eight variables to update where data say
static unsigned* out;        // results
static double *X, *Y;        // whole numbers, not written; any numbers
static int *once, *many;     // subscripts: each once, and few many times
static int *next_of, *row;   // a cycle; where rows begin
static unsigned ticks;       // what functions that are called change

KERNEL unsigned mixed(unsigned x, unsigned y) { return x * 5u + (y ^ x >> 7); }

/// Needs its arguments after calls, so it saves registers of its caller.
KERNEL unsigned busy(unsigned x, unsigned y, unsigned z) {
  const unsigned first = mixed(x, y);
  const unsigned second = mixed(y, z);
  return first * x + second - mixed(z, x) * y;
}

KERNEL int is_above(unsigned x, unsigned limit) { return x > limit; }
KERNEL void add_to(unsigned* sum, unsigned x) { *sum += x; }
KERNEL void count_ticks(unsigned x) { ticks += x; }
KERNEL unsigned next_tick(unsigned x) { return ticks = ticks * 3u + x; }
KERNEL unsigned larger(unsigned x, unsigned y) { return x > y ? x : y; }

static void allocate(void) {
  A = block_of(kSize, sizeof *A), B = block_of(kSize, sizeof *B), C = block_of(kSize, sizeof *C);
  G = block_of(kSize, sizeof *G), T = block_of(8, sizeof *T), out = block_of(kSize, sizeof *out);
  X = block_of(kSize, sizeof *X), Y = block_of(kSize, sizeof *Y);
  once = permutation(48), many = some_ints(kSize, 0, 6), next_of = cycle(40), row = some_ints(24, 0, 0);
  for (int i = 1; i < 24; i++) row[i] = row[i - 1] + 2 + many[i] % 2;
}

/// New numbers everywhere. Of the bits that conditions look at, some are set and some are not in every stretch.
static void refill(unsigned seed) {
  for (int i = 0; i < kSize; i++) {
    A[i] = noise(seed, (unsigned)i);
    B[i] = noise(seed + 1, (unsigned)i);
    C[i] = noise(seed + 2, (unsigned)i);
    G[i] = noise(seed + 3, (unsigned)i) & ~3u;
    G[i] |= i % 5 == 0 || i % 7 == 3 ? 3u : i % 5 == 2 || i % 7 == 1 ? 0u : noise(seed + 4, (unsigned)i) & 3u;
    T[i % 8] = noise(seed + 5, (unsigned)i);
    X[i] = 1 + noise(seed + 6, (unsigned)i) % 500;
    Y[i] = 1 + noise(seed + 7, (unsigned)i) % 500;
    out[i] = 0;
  }
  ticks = seed;
}

static void show(int nest) {
  unsigned sum = ticks;
  double real = 0;
  for (int i = 0; i < kSize; i++) {
    sum = sum * 31u + (A[i] ^ B[i] * 3u ^ C[i] * 5u ^ out[i] * 7u) + T[i % 8];
    real += Y[i] * (1 + i % 7);
  }
  printf("%d %x %.9g\n", nest, sum, real);
}

#endif
