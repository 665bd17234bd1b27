// Forks a child that forks a child, and so on, as deep as the argument says; each hands its child's status up.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int depth = argc > 1 ? atoi(argv[1]) : 6;
  for (int level = 0; level < depth; level++) {
    pid_t child = fork();
    if (child < 0) return 98;
    if (child == 0) continue;
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
      fprintf(stderr, "child of level %d: killed by signal %d\n", level, WTERMSIG(status));
      return 99;
    }
    return WEXITSTATUS(status);
  }
  puts("the innermost");
  return 7;
}
