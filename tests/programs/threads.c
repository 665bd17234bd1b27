// Four threads take turns with a mutex and a condition variable, then sum in parallel; the output is deterministic.
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 4, kRounds = 25, kWork = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static long total;
static __thread long mine;

static void* work(void* argument) {
  int id = (int)(long)argument;
  for (int round = 0; round < kRounds; round++) {
    pthread_mutex_lock(&mutex);
    while (turn != id) pthread_cond_wait(&changed, &mutex);
    if (round % 12 == 0) printf("thread %d, round %d\n", id, round);
    turn = (turn + 1) % kThreads;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  for (int i = 0; i < kWork; i++) mine += i % (id + 2);
  pthread_mutex_lock(&mutex);
  total += mine;
  pthread_mutex_unlock(&mutex);
  return (void*)mine;
}

int main(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++) {
    if (pthread_create(&threads[i], NULL, work, (void*)i) != 0) return 1;
  }
  long sum = 0;
  for (int i = 0; i < kThreads; i++) {
    void* result;
    pthread_join(threads[i], &result);
    sum += (long)result;
  }
  printf("total %ld, sum %ld\n", total, sum);
  return total == sum ? 0 : 1;
}
