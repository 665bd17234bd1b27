// What the programs for layouts share: numbers that are the same in every run, and a checksum of every bit.
#ifndef LOOPFOLD_KERNELS_LAYOUT_DATA_H
#define LOOPFOLD_KERNELS_LAYOUT_DATA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline double number(long i) { return 0.5 + (double)(i * 37 % 101) / 101; }

/// Prints a sum over all bits of the elements, in which their order counts.
static inline void print_bits(const char* name, const void* elements, size_t bytes) {
  const unsigned char* const at = (const unsigned char*)elements;
  unsigned long sum = 14695981039346656037ul;
  for (size_t i = 0; i < bytes; i++) sum = (sum ^ at[i]) * 1099511628211ul;
  printf("%s %016lx\n", name, sum);
}

/// The first argument, or `otherwise`.
static inline int size_from(int argc, char** argv, int place, int otherwise) {
  return place < argc ? atoi(argv[place]) : otherwise;
}

#endif
