// Overflows its stack by recursion; the SIGSEGV handler on an alternate stack reports and exits with status 8.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char alternate_stack[65536];

static void handler(int signal) {
  (void)signal;
  static const char text[] = "stack overflow caught\n";
  _exit(write(STDOUT_FILENO, text, sizeof text - 1) > 0 ? 8 : 1);
}

static volatile int go_on = 1;

static int __attribute__((noinline)) recurse(int depth) {
  volatile char frame[16384];
  frame[0] = (char)depth;
  return go_on ? recurse(depth + 1) + frame[0] : 0;
}

int main(void) {
  stack_t alternate = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
  sigaltstack(&alternate, NULL);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  return recurse(0) & 1;
}
