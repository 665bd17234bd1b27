// Forks and executes the program given as arguments (default: /bin/echo), with a pipe from it; prints what it says.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char* echo[] = {"/bin/echo", "from the child", NULL};
  char** command = argc > 1 ? argv + 1 : echo;
  int ends[2];
  if (pipe(ends) != 0) return 1;
  pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execvp(command[0], command);
    _exit(127);
  }
  close(ends[1]);
  FILE* from_child = fdopen(ends[0], "r");
  char line[4096];
  while (fgets(line, sizeof line, from_child)) printf("child says: %s", line);
  int status;
  waitpid(child, &status, 0);
  printf("exited %d, status %d\n", WIFEXITED(status), WEXITSTATUS(status));
  return 0;
}
