// Starts one thread, then fails to start three more: the limit of processes has been reached.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kNobody = 65534 };

static void* work(void* argument) { return argument; }

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  // The limit does not hold for root.
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) perror("setuid");
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_NPROC, &none);
  int failed = 0;
  for (int i = 0; i < 3; i++) {
    int error = pthread_create(&thread, NULL, work, NULL);
    puts(error ? strerror(error) : "started");
    failed += error != 0;
    if (!error) pthread_join(thread, NULL);
  }
  return failed;
}
