// Asks /proc about itself: the name of its executable, its command line, its name.
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char path[4096] = "", command[4096] = "";
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) return 1;
  printf("%d arguments, exe %s\n", argc, basename(path));
  int file = open("/proc/self/cmdline", O_RDONLY);
  length = read(file, command, sizeof command);
  for (ssize_t i = 0; i < length; i++) {
    if (command[i] == 0) command[i] = ' ';
  }
  printf("command %s, begins with argv[0]: %d\n", command, strncmp(command, argv[0], strlen(argv[0])) == 0);
  printf("leader %d\n", getpid() == (pid_t)gettid());
  return 0;
}
