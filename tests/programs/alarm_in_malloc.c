// Allocates and frees in a loop while a timer interrupts it every millisecond, most often inside the allocator.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile long handled;
static void* volatile block;

static void handler(int signal) {
  (void)signal;
  for (int i = 0; i < 50; i++) handled = handled + 1;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < 20000 || handled == 0; i++) {
    block = malloc((size_t)(i % 3000 + 1));
    free(block);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  puts(handled > 0 ? "interrupted" : "never interrupted");
  return 0;
}
