// Handles signals on an alternate stack and says whether it really ran there.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSize = 65536 };
static char* stack;
static volatile int on_it, off_it, flagged;

static void handler(int signal) {
  (void)signal;
  char here;
  volatile char* p = &here;
  if (p >= stack && p < stack + kSize) {
    on_it++;
  } else {
    off_it++;
  }
  stack_t now;
  sigaltstack(NULL, &now);
  flagged += (now.ss_flags & SS_ONSTACK) != 0;
}

int main(void) {
  stack = malloc(kSize);
  stack_t alternate = {.ss_sp = stack, .ss_size = kSize};
  sigaltstack(&alternate, NULL);
  struct sigaction there = {.sa_handler = handler, .sa_flags = SA_ONSTACK}, here = {.sa_handler = handler};
  sigaction(SIGUSR1, &there, NULL);
  sigaction(SIGUSR2, &here, NULL);
  for (int i = 0; i < 10; i++) raise(i % 3 ? SIGUSR1 : SIGUSR2);
  printf("on %d, off %d, flagged %d\n", on_it, off_it, flagged);
  return 0;
}
