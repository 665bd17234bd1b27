// How the kernels count their own loops, so that the loop tree can be compared with what the program says itself.
//
// ENTER(k) stands on the line before a loop, ITERATE(k) first in its body; for a do-while, whose line is that of its
// condition, ITERATE_DO(k) stands last in the body, on the line before it. At its end a kernel prints one line for each
// loop: `loop LINE ENTRIES ITERATIONS`. Compilers may keep the counters in registers, or compute them without counting:
// they do not change the shape of a loop.
//
// Bounds come from volatile variables (bound()), and arrays are much larger than what is used of them, so that
// compilers know no trip count, and no small limit of one.
//
// A comment on a loop's line may say what compilers legitimately do to that loop, for tests/e2e/loop_counts.py:
//
//   // expect(BUILDS): RELATION   where BUILDS is a list of builds (gcc-O2, clang-O3, ...; `gcc-*` for all of gcc's);
//                                 several of them may stand in one comment
//     gone       no loop at this line: fully unrolled, or turned into a call of memset and the like
//     differs    loops at this line, whose iterations do not add up to the source's: unrolled, peeled, or another
//                loop's as well
//     unclear    whatever there is at this line: the loop has the line of another one, or none
#ifndef COUNTED_H
#define COUNTED_H

#include <stdio.h>

#define KERNEL __attribute__((noinline)) static

enum { kMostLoops = 8 };
static struct { long line, entries, iterations; } loops[kMostLoops];

#define ENTER(k) (loops[k].line = __LINE__ + 1, loops[k].entries++)
#define ITERATE(k) (loops[k].iterations++)
#define ITERATE_DO(k) (loops[k].line = __LINE__ + 1, loops[k].iterations++)
#define ENTER_DO(k) (loops[k].entries++)

static inline int bound(int value) {
  volatile int hidden = value;
  return hidden;
}

// Small numbers that look random, the same in every run.
static inline unsigned noise(unsigned i) { return (i * 2654435761u >> 7) ^ (i * 40503u); }

// `check` is a result of the kernel: it must not be optimised away.
static inline int print_loops(long check) {
  printf("check %ld\n", check);
  for (int k = 0; k < kMostLoops; k++) {
    if (loops[k].line != 0) printf("loop %ld %ld %ld\n", loops[k].line, loops[k].entries, loops[k].iterations);
  }
  return 0;
}

#endif
