// Says which of the first 256 file descriptors are open, closes all above 2, and goes on.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int count_open(int print) {
  int count = 0;
  for (int fd = 0; fd < 256; fd++) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    if (print) printf("open: %d\n", fd);
    count++;
  }
  return count;
}

int main(void) {
  printf("%d are open\n", count_open(1));
  int closed = 0;
  for (int fd = 3; fd < 256; fd++) closed += close(fd) == 0;
  long sum = 0;
  for (int i = 0; i < 20000; i++) sum += i % 7;
  printf("closed %d, left %d, sum %ld\n", closed, count_open(0), sum);
  int first_free = open("/dev/null", O_RDONLY);
  printf("next is %d\n", first_free);
  return 0;
}
