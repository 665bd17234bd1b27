// Replaces itself by the program given as argument through an open file: with fexecve, or execveat after `at`.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char** environ;

int main(int argc, char** argv) {
  int at = argc > 1 && strcmp(argv[1], "at") == 0;
  if (argc < 2 + at) return 1;
  char** command = argv + 1 + at;
  int file = open(command[0], O_RDONLY | O_CLOEXEC);
  if (file < 0) return 1;
  puts("before");
  fflush(stdout);
  if (at) {
    syscall(SYS_execveat, file, "", command, environ, AT_EMPTY_PATH);
  } else {
    fexecve(file, command, environ);
  }
  perror("exec");
  return 1;
}
