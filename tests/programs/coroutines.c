// Two coroutines on stacks of their own, switched with swapcontext.
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { kStack = 65536 };
static ucontext_t main_context, contexts[2];
static long value;

static void produce(int step) {
  for (int i = 0; i < 40; i++) {
    for (int j = 0; j < 20; j++) value += step * j;
    swapcontext(&contexts[0], &contexts[1]);
  }
}

static void consume(void) {
  long seen = 0;
  for (int i = 0; i < 40; i++) {
    seen = (seen * 3 + value) % 100003;
    if (i % 10 == 0) printf("seen %ld\n", seen);
    swapcontext(&contexts[1], &contexts[0]);
  }
}

int main(void) {
  char* stacks[2];
  for (int i = 0; i < 2; i++) {
    getcontext(&contexts[i]);
    stacks[i] = malloc(kStack);
    contexts[i].uc_stack.ss_sp = stacks[i];
    contexts[i].uc_stack.ss_size = kStack;
    contexts[i].uc_link = &main_context;
  }
  makecontext(&contexts[0], (void (*)(void))produce, 1, 3);
  makecontext(&contexts[1], consume, 0);
  swapcontext(&main_context, &contexts[0]);
  printf("value %ld\n", value);
  free(stacks[0]);
  free(stacks[1]);
  return 0;
}
