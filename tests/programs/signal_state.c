// Prints the dispositions and the mask of its signals as it inherited them, and after changing some.
#include <signal.h>
#include <stdio.h>

static void handler(int signal) { (void)signal; }

static void print_state(const char* when) {
  printf("%s:", when);
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, NULL, &blocked);
  for (int n = 1; n < 60; n++) {
    struct sigaction action;
    if (n == 32 || n == 33) continue;  // the C library's own
    if (sigaction(n, NULL, &action) != 0) continue;
    const char* name = action.sa_handler == SIG_DFL ? "" : action.sa_handler == SIG_IGN ? "ignored" : "handled";
    if (name[0] || sigismember(&blocked, n)) printf(" %d%s%s", n, name, sigismember(&blocked, n) ? "+blocked" : "");
  }
  putchar('\n');
}

int main(void) {
  print_state("inherited");
  signal(SIGINT, handler);
  signal(SIGHUP, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  print_state("changed");
  return 0;
}
