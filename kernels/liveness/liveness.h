// What the programs of this folder share. Each has one function, `kernel`, whose loops carry a `// reuse:` line that says
// what running the loop in parallel asks for, and perhaps `// check:` lines (a schedule, and the answer to it).
//
// Built with -DTWIN, a program has a transformed kernel, with its variables treated as told; with -DBROKEN the same
// without that treatment. The twin prints what the program prints, the broken one must not.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(TWIN) || defined(BROKEN)
#define TRANSFORMED 1
#endif

#define KERNEL __attribute__((noinline, noclone))

static inline double noise(int i) { return (double)((i * 7919 + 104729) % 1009) / 64; }

static inline double checksum(const double* a, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * (double)(i % 13 + 1);
  return sum;
}

static inline void fill(double* a, int n) {
  for (int i = 0; i < n; i++) a[i] = noise(i);
}
