// A thread other than the main one calls exit(7) while the others wait.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void* wait_forever(void* unused) {
  (void)unused;
  for (;;) pause();
  return NULL;
}

static void* leave(void* unused) {
  (void)unused;
  puts("leaving from a thread");
  exit(7);
}

int main(void) {
  pthread_t a, b;
  if (pthread_create(&a, NULL, wait_forever, NULL) != 0 || pthread_create(&b, NULL, leave, NULL) != 0) return 1;
  pthread_join(a, NULL);
  return 0;
}
