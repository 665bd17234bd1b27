// System calls that read and write memory: read, write, readv, writev, pread, pipe, stat, getcwd, fcntl, getdents,
// poll.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int entries(const char* path) {
  DIR* directory = opendir(path);
  int count = 0;
  while (directory && readdir(directory)) count++;
  if (directory) closedir(directory);
  return count;
}

int main(void) {
  char name[] = "/tmp/loopfold-syscalls-XXXXXX", buffer[64] = "", head[6] = "", tail[64] = "";
  int file = mkstemp(name), ends[2], pair[2];
  if (file < 0 || pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
  struct iovec out[2] = {{"hello ", 6}, {"scattered world", 15}};
  struct iovec in[2] = {{head, 5}, {tail, sizeof tail - 1}};
  printf("writev %zd\n", writev(file, out, 2));
  lseek(file, 0, SEEK_SET);
  ssize_t count = readv(file, in, 2);
  printf("readv %zd <%s> <%s>\n", count, head, tail);
  count = pread(file, buffer, 5, 6);
  printf("pread %zd <%s>\n", count, buffer);
  struct stat info;
  printf("fstat %d size %lld\n", fstat(file, &info), (long long)info.st_size);
  printf("pipe %zd\n", write(ends[1], "through the pipe", 16));
  struct pollfd ready = {ends[0], POLLIN, 0};
  printf("poll %d %d\n", poll(&ready, 1, 1000), ready.revents == POLLIN);
  memset(buffer, 0, sizeof buffer);
  count = read(ends[0], buffer, sizeof buffer);
  printf("read %zd <%s>\n", count, buffer);
  printf("send %zd\n", send(pair[0], "message", 7, 0));
  memset(buffer, 0, sizeof buffer);
  count = recv(pair[1], buffer, sizeof buffer, 0);
  printf("recv %zd <%s>\n", count, buffer);
  printf("flags %d\n", fcntl(ends[0], F_GETFL) & O_ACCMODE);
  int copy = fcntl(file, F_DUPFD_CLOEXEC, 10);
  printf("duplicate %d cloexec %d\n", copy >= 10, fcntl(copy, F_GETFD) == FD_CLOEXEC);
  char* directory = getcwd(NULL, 0);
  printf("getcwd %d, entries %d\n", directory && directory[0] == '/', entries("/proc/self/task"));
  free(directory);
  printf("unlink %d, again %d\n", unlink(name), unlink(name));
  return 0;
}
