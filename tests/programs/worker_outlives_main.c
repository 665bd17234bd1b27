// main ends with pthread_exit at once; the thread that it started computes for long afterwards.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static long table[1000];

static void* work(void* unused) {
  (void)unused;
  usleep(100000);
  long sum = 0;
  for (long i = 0; i < 500000; i++) sum += table[i % 1000] + i;
  printf("sum %ld\n", sum);
  return NULL;
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  pthread_exit(NULL);
}
