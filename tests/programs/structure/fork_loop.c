// A loop around fork and wait: the parent's counts know nothing of what the children do.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kChildren = 3, kWork = 200, kParent = 50 };
static volatile long sum;

static __attribute__((noinline)) void compute(int n) {
  for (int i = 0; i < n; i++) sum = sum + i;  // @compute
}

int main(void) {
  for (int i = 0; i < kChildren; i++) {  // @fork
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      compute(kWork);
      _exit(10 + i);
    }
    int status;
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 10 + i) return 1;
    compute(kParent);
  }
  printf("children %d\nwork %d\nparent %d\n", kChildren, kWork, kParent);
  return 0;
}
