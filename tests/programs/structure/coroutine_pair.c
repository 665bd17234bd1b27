// Two coroutines that switch to each other in loops; main waits on its own stack.
#include <stdio.h>
#include <ucontext.h>

enum { kStack = 65536, kTurns = 25, kInner = 8 };
static ucontext_t main_context, contexts[2];
static char stacks[2][kStack];
static volatile long value;
static long pings, pongs;

static void ping(void) {
  for (int i = 0; i < kTurns; i++) {  // @ping
    pings++;
    for (int j = 0; j < kInner; j++) value = value + j;  // @inner
    swapcontext(&contexts[0], &contexts[1]);
  }
}

static void pong(void) {
  for (int i = 0; i < kTurns; i++) {  // @pong
    pongs++;
    value = value * 3 % 10007;
    swapcontext(&contexts[1], &contexts[0]);
  }
}

int main(void) {
  void (*const functions[])(void) = {ping, pong};
  for (int i = 0; i < 2; i++) {  // @setup
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks[i];
    contexts[i].uc_stack.ss_size = kStack;
    contexts[i].uc_link = &main_context;
    makecontext(&contexts[i], functions[i], 0);
  }
  swapcontext(&main_context, &contexts[0]);
  for (int i = 0; i < kInner; i++) value = value + i;  // @after
  printf("ping %ld\npong %ld\ninner %d\nsetup 2\nafter %d\n", pings, pongs, kInner, kInner);
  return 0;
}
