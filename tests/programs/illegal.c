// Catches SIGILL from ud2 and SIGTRAP from int3, and steps over them.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

static volatile int traps, illegals;

static void on_trap(int signal) {
  (void)signal;
  traps++;
}

static void on_illegal(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)info;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 2;
  illegals++;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO};
  sigaction(SIGILL, &action, NULL);
  signal(SIGTRAP, on_trap);
  for (int i = 0; i < 3; i++) __asm__ volatile("ud2");
  __asm__ volatile("int3");
  printf("illegal %d, trap %d\n", illegals, traps);
  return 0;
}
