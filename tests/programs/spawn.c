// posix_spawn with file actions and attributes; popen; system.
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

int main(void) {
  char* arguments[] = {"echo", "spawned", NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child;
  if (posix_spawn(&child, "/bin/echo", &actions, NULL, arguments, environ) != 0) return 1;
  int status;
  waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  printf("spawn: status %d\n", WEXITSTATUS(status));

  FILE* shell = popen("echo through a shell; exit 4", "r");
  char line[100];
  while (fgets(line, sizeof line, shell)) printf("popen: %s", line);
  printf("popen: status %d\n", WEXITSTATUS(pclose(shell)));
  fflush(stdout);
  printf("system: status %d\n", WEXITSTATUS(system("exit 6")));
  return 0;
}
