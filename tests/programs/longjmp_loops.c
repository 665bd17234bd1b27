// Leaves nested loops and calls by longjmp, again and again.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf out;
static long steps;

static void __attribute__((noinline)) deep(int level, int limit) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      steps++;
      if (steps % limit == 0) longjmp(out, level + 1);
      if (level < 4) deep(level + 1, limit);
    }
  }
}

int main(void) {
  volatile long left = 0, levels = 0;
  for (volatile int limit = 5; limit < 200; limit += 13) {
    int level = setjmp(out);
    if (level == 0) {
      deep(0, limit);
    } else {
      left = left + 1;
      levels = levels + level;
    }
  }
  printf("left %ld times, levels %ld, steps %ld\n", left, levels, steps);
  return 0;
}
