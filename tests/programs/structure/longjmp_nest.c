// longjmp from the innermost of three loops, in a callee, to a setjmp in a loop around them.
#include <setjmp.h>
#include <stdio.h>

enum { kRounds = 15, kEach = 6 };
static jmp_buf back;
static volatile long count_i, count_j, count_k, jumps, after;

static __attribute__((noinline)) void three(int stop) {
  for (int i = 0; i < kEach; i++) {  // @i
    count_i++;
    for (int j = 0; j < kEach; j++) {  // @j
      count_j++;
      for (int k = 0; k < kEach; k++) {  // @k
        count_k++;
        if (i * 36 + j * 6 + k == stop) longjmp(back, 1);
      }
    }
  }
}

int main(void) {
  for (volatile int round = 0; round < kRounds; round++) {  // @rounds
    if (setjmp(back) == 0) {
      three(round * 17 + 3);
    } else {
      jumps++;
    }
    after++;
  }
  printf("rounds %d\njumps %ld\nafter %ld\ni %ld\nj %ld\nk %ld\n", kRounds, jumps, after, count_i, count_j, count_k);
  return 0;
}
