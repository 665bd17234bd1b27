// Four threads with the same function: they share one tree.
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 4, kOuter = 10, kInner = 12 };
static volatile long sums[kThreads];

static __attribute__((noinline)) void row(int thread, int n) {
  for (int j = 0; j < n; j++) sums[thread] = sums[thread] + j;  // @inner
}

static void* work(void* argument) {
  int thread = (int)(long)argument;
  for (int i = 0; i < kOuter; i++) row(thread, kInner);  // @outer
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++) {  // @create
    if (pthread_create(&threads[i], NULL, work, (void*)i) != 0) return 1;
  }
  long sum = 0;
  for (int i = 0; i < kThreads; i++) {  // @join
    pthread_join(threads[i], NULL);
    sum += sums[i];
  }
  printf("sum %ld\nthreads %d\nouter %d\ninner %d\n", sum, kThreads, kOuter, kInner);
  return 0;
}
