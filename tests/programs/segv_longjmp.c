// Leaves a SIGSEGV handler with siglongjmp, twenty times, from inside a loop.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf back;
static volatile int faults;

static void on_fault(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)context;
  faults += info->si_addr == (void*)0x10;
  siglongjmp(back, 1);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  volatile long sum = 0;
  for (volatile int i = 0; i < 20; i++) {
    if (sigsetjmp(back, 1) == 0) {
      sum = sum + i;
      sum = sum + *(volatile int*)0x10;
    } else {
      sum = sum + 1000;
    }
  }
  printf("faults %d, sum %ld\n", faults, sum);
  return 0;
}
