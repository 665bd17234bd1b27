// What the kernels share: sizes from the command line, input that is the same in every run, a checksum.
//
// Nothing here is on a line that a kernel's description speaks of (docs/kernels.md).
#ifndef LOOPFOLD_KERNELS_KERNEL_H
#define LOOPFOLD_KERNELS_KERNEL_H

#include <stdio.h>
#include <stdlib.h>

/// The function under study: nothing that its callers pass becomes part of it.
#ifdef __clang__
#define KERNEL __attribute__((noinline))
#else
#define KERNEL __attribute__((noipa))
#endif

/// The number-th argument (from 1), or `otherwise`.
static inline int size_argument(int argc, char** argv, int number, int otherwise) {
  const int size = number < argc ? atoi(argv[number]) : otherwise;
  if (size < 1) {
    fprintf(stderr, "%s: argument %d is a size, at least 1\n", argv[0], number);
    exit(2);
  }
  return size;
}

static inline void* block_of(long count, long size) {
  void* const block = malloc((size_t)(count * size));
  if (block == NULL) exit(3);
  return block;
}

/// A block of reproducible numbers between 0.5 and 1.5.
static inline double* numbers(long count) {
  double* const block = (double*)block_of(count, sizeof(double));
  for (long i = 0; i < count; i++) block[i] = 0.5 + (double)(i * 37 % 101) / 101;
  return block;
}

/// A block of reproducible integers from 0 to below - 1.
static inline int* integers(long count, int below) {
  int* const block = (int*)block_of(count, sizeof(int));
  unsigned state = 12345;
  for (long i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    block[i] = (int)((state >> 8) % (unsigned)below);
  }
  return block;
}

static inline void print_sum(const double* block, long count) {
  double sum = 0;
  for (long i = 0; i < count; i++) sum += block[i];
  printf("%.10g\n", sum);
}

static inline void print_integer_sum(const int* block, long count) {
  long sum = 0;
  for (long i = 0; i < count; i++) sum += block[i];
  printf("%ld\n", sum);
}

#endif
