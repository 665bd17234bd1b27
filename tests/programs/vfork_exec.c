// vfork followed by exec of /bin/echo, and by _exit where exec fails.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int start(const char* path) {
  pid_t child = vfork();
  if (child == 0) {
    execl(path, path, "after vfork", (char*)NULL);
    _exit(99);
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

int main(void) {
  printf("echo: %d\n", start("/bin/echo"));
  printf("missing: %d\n", start("/nonexistent/program"));
  return 0;
}
