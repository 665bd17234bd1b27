// setjmp in every iteration of a loop, with a longjmp back to it some times in each: a loop without a loop statement.
#include <setjmp.h>
#include <stdio.h>

enum { kRounds = 10, kTimes = 4, kInner = 5 };
static jmp_buf again;
static volatile int times, sum, inner;

static __attribute__((noinline)) void back(void) {
  for (int i = 0; i < kInner; i++) {  // @inner
    inner++;
    sum += i;
  }
  if (++times % kTimes != 0) longjmp(again, times);
}

int main(void) {
  for (volatile int round = 0; round < kRounds; round++) {  // @rounds
    setjmp(again);
    back();
  }
  printf("rounds %d\nbacks %d\ninner %d\n", kRounds, times, inner);
  return 0;
}
