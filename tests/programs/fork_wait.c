// Forks three children that compute and exit with their own status; waits for each, one is killed by a signal.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int compute(int seed) {
  int value = seed;
  for (int i = 0; i < 5000; i++) value = (value * 31 + i) % 10007;
  return value;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      printf("child %d computes %d\n", i, compute(i));
      fflush(stdout);
      if (i == 2) raise(SIGTERM);
      exit(10 + i);
    }
    int status;
    if (waitpid(child, &status, 0) != child) return 1;
    if (WIFEXITED(status)) printf("child %d: status %d\n", i, WEXITSTATUS(status));
    if (WIFSIGNALED(status)) printf("child %d: signal %d\n", i, WTERMSIG(status));
  }
  printf("parent computes %d\n", compute(100));
  return 0;
}
