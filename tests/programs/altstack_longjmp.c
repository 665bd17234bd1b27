// Leaves a handler on an alternate stack (in the heap, or in main's frame) N times by siglongjmp; then allocates.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kStack = 1 << 16 };

static sigjmp_buf before;
static void* volatile block;
static int* volatile nowhere = (int*)16;

static void leave(int signal) {
  (void)signal;
  siglongjmp(before, 1);
}

static void after_main(void) {
  volatile long sum = 0;
  for (int i = 0; i < 100000; i++) sum = sum + i;
}

static __attribute__((noipa)) void fault(void) { *nowhere = 1; }

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  int in_frame = argc > 2 && strcmp(argv[2], "frame") == 0;
  char frame[kStack];
  atexit(after_main);
  stack_t stack = {.ss_sp = in_frame ? frame : malloc(kStack), .ss_size = kStack};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = leave, .sa_flags = SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  volatile int faults = 0;
  for (volatile int i = 0; i < rounds; i++) {
    if (sigsetjmp(before, 1) == 0) {
      fault();
    } else {
      faults++;
    }
  }
  for (int i = 0; i < 50; i++) {
    block = malloc(100);
    free(block);
  }
  printf("%d faults\n", faults);
  return 0;
}
