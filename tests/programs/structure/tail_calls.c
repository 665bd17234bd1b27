// Calls in tail position, which are jumps at -O2: a million steps between two functions, through a pointer, and out of
// a function that was called into one that is also called.
#include <stdio.h>

enum { kSteps = 1000000, kCalls = 50, kInner = 6, kStates = 3000 };
typedef long (*State)(long, long);
static volatile long cells[kInner];

__attribute__((noinline)) long step_odd(long n, long sum);
__attribute__((noinline)) long step_even(long n, long sum) { return n == 0 ? sum : step_odd(n - 1, sum + (n & 3)); }
__attribute__((noinline)) long step_odd(long n, long sum) { return n == 0 ? -sum : step_even(n - 1, sum ^ n); }

static State volatile states[3];
__attribute__((noinline)) long state_a(long n, long sum) { return n == 0 ? sum : states[n % 3](n - 1, sum + 1); }
__attribute__((noinline)) long state_b(long n, long sum) { return n == 0 ? sum : states[(n >> 1) % 3](n - 1, sum + 2); }
__attribute__((noinline)) long state_c(long n, long sum) { return n == 0 ? sum : states[(n >> 2) % 3](n - 1, sum + 3); }

__attribute__((noinline)) void fill(int n) {
  for (int i = 0; i < n; i++) cells[i] = cells[i] + i;  // @inner
}
__attribute__((noinline)) void fill_less(int n) {
  cells[0] = n;
  fill(n - 1);
}

int main(void) {
  long steps = step_even(kSteps, 0);
  states[0] = state_a, states[1] = state_b, states[2] = state_c;
  long walked = state_a(kStates, 0);
  for (int i = 0; i < kCalls; i++) {  // @calls
    fill_less(kInner);
    fill(kInner);
  }
  printf("result %ld %ld\nsteps %d\nstates %d\ncalls %d\ninner %d\n", steps, walked, kSteps, kStates, kCalls, kInner);
  return 0;
}
