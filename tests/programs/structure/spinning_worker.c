// main ends while a thread still goes round its loop.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { kMain = 40 };
static volatile long turns, sum;

static void* spin(void* unused) {
  (void)unused;
  for (;;) {  // @spin
    turns++;
    sched_yield();
  }
  return NULL;
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, spin, NULL) != 0) return 1;
  while (turns < 20) sched_yield();               // @wait
  for (int i = 0; i < kMain; i++) sum = sum + i;  // @main
  printf("main %d\n", kMain);
  fflush(stdout);
  return 0;
}
