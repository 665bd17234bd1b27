// Says "ready", then waits for SIGINT or SIGTERM; its handler's effect is a line and exit status 5.
#include <signal.h>
#include <stdio.h>
#include <time.h>

static volatile sig_atomic_t caught, count;

static void handler(int signal) {
  caught = signal;
  count++;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  puts("ready");
  fflush(stdout);
  struct timespec a_moment = {0, 10000000};
  volatile unsigned long spins = 0;
  while (!caught) {
    for (int i = 0; i < 1000; i++) spins = spins + 1;
    nanosleep(&a_moment, NULL);
  }
  // Wait for a second delivery of the same signal, which would be one too many.
  for (int i = 0; i < 30; i++) nanosleep(&a_moment, NULL);
  printf("signal %d, %d time%s\n", (int)caught, (int)count, count == 1 ? "" : "s");
  return 5;
}
