// What the programs of known verdicts share: input that depends on a seed, and sums to print.
//
// Every program takes a size and a seed. Numbers are small integers, also where they are double, so that sums and
// products are exact in any order. The loops here are not among those with a known verdict.
#ifndef LOOPFOLD_KERNELS_VERDICTS_INPUTS_H
#define LOOPFOLD_KERNELS_VERDICTS_INPUTS_H

#include "reality.h"
//
#include "../kernel.h"

/// The size, at least 12: some loops need that many iterations to show what they carry.
static inline int size_of_input(int argc, char** argv) {
  const int size = size_argument(argc, argv, 1, 40);
  return size < 12 ? 12 : size;
}

static inline unsigned noise(unsigned seed, unsigned i) {
  unsigned x = (seed + 1) * 2654435761u ^ (i + 1) * 2246822519u;
  x = (x ^ x >> 15) * 3266489917u;
  x = (x ^ x >> 13) * 668265263u;
  return x ^ x >> 16;
}

static unsigned input_seed = 1;
static unsigned input_count = 0;

static inline void seed_input(int argc, char** argv) { input_seed = (unsigned)size_argument(argc, argv, 2, 1); }

/// A block of integers from low to high; each call gives others.
static inline int* some_ints(int count, int low, int high) {
  int* const block = (int*)block_of(count, sizeof(int));
  const unsigned stream = input_seed * 1000 + ++input_count;
  for (int i = 0; i < count; i++) block[i] = low + (int)(noise(stream, (unsigned)i) % (unsigned)(high - low + 1));
  return block;
}

/// A block of whole numbers from low to high.
static inline double* some_doubles(int count, int low, int high) {
  double* const block = (double*)block_of(count, sizeof(double));
  const unsigned stream = input_seed * 1000 + ++input_count;
  for (int i = 0; i < count; i++) block[i] = low + (int)(noise(stream, (unsigned)i) % (unsigned)(high - low + 1));
  return block;
}

/// 0 to count - 1 in no order.
static inline int* permutation(int count) {
  int* const block = (int*)block_of(count, sizeof(int));
  const unsigned stream = input_seed * 1000 + ++input_count;
  for (int i = 0; i < count; i++) {
    const int j = (int)(noise(stream, (unsigned)i) % (unsigned)(i + 1));
    block[i] = block[j];
    block[j] = i;
  }
  return block;
}

/// For each of 0 to count - 1 another, such that following them visits all.
static inline int* cycle(int count) {
  const int* const order = permutation(count);
  int* const block = (int*)block_of(count, sizeof(int));
  for (int i = 0; i < count; i++) block[order[i]] = order[(i + 1) % count];
  return block;
}

static inline void show_doubles(const char* name, const double* block, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += block[i] * (1 + i % 7);
  printf("%s %.9g\n", name, sum);
}

static inline void show_ints(const char* name, const int* block, int count) {
  long sum = 0;
  for (int i = 0; i < count; i++) sum += (long)block[i] * (1 + i % 7);
  printf("%s %ld\n", name, sum);
}

#endif
