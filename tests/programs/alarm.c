// Catches SIGALRM from setitimer while computing; leaves its loop after the third one.
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t alarms;

static void on_alarm(int signal) {
  (void)signal;
  alarms++;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  volatile unsigned long spins = 0;
  while (alarms < 3) spins = spins + 1;
  setitimer(ITIMER_REAL, &never, NULL);
  printf("three alarms%s\n", spins > 0 ? ", some spins" : "");
  return 0;
}
