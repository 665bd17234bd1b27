// An exception thrown from a loop, through two frames with loops, caught in a loop.
#include <cstdio>

namespace {

enum { kRounds = 30, kMiddle = 4, kInner = 5 };
volatile long middles, inners, caught, sum;

__attribute__((noinline)) void inner(int round, int at) {
  for (int i = 0; i < kInner; i++) {  // @inner
    inners = inners + 1;
    sum = sum + i;
    if (round % 3 == 1 && at == 2 && i == 3) throw round;
  }
}

__attribute__((noinline)) void middle(int round) {
  for (int i = 0; i < kMiddle; i++) {  // @middle
    middles = middles + 1;
    inner(round, i);
  }
}

}  // namespace

int main() {
  for (int round = 0; round < kRounds; round++) {  // @rounds
    try {
      middle(round);
    } catch (int) {
      caught = caught + 1;
    }
  }
  std::printf("rounds %d\nmiddle %ld\ninner %ld\ncaught %ld\n", +kRounds, +middles, +inners, +caught);
}
