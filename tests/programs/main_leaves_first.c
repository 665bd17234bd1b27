// main ends with pthread_exit while a thread still works; the process ends with that thread.
#include <pthread.h>
#include <stdio.h>

static pthread_t main_thread;

static void* work(void* unused) {
  (void)unused;
  pthread_join(main_thread, NULL);
  long sum = 0;
  for (int i = 0; i < 20000; i++) sum += i & 7;
  printf("main is gone, sum %ld\n", sum);
  return NULL;
}

int main(void) {
  pthread_t thread;
  main_thread = pthread_self();
  if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  pthread_exit(NULL);
}
