// Three functions of known shape, so that a narrowed recording can be told from a whole one.
#include <stdio.h>
#include <string.h>

static volatile int data[64];

void __attribute__((noinline)) prepare(void) {
  for (int i = 0; i < 64; i++) data[i] = i;
}

int __attribute__((noinline)) helper(int x) { return x * 3; }

void __attribute__((noinline)) kernel(void) {
  for (int i = 0; i < 64; i++) data[i] = helper(data[i]) % 1000;
}

void __attribute__((noinline)) finish(void) {
  char text[64];
  int sum = 0;
  for (int i = 0; i < 64; i++) sum += data[i];
  snprintf(text, sizeof text, "sum %d", sum);
  printf("%s, %zu letters\n", text, strlen(text));
}

void __attribute__((noinline)) never(void) { puts("never"); }

int main(int argc, char** argv) {
  (void)argv;
  prepare();
  for (int i = 0; i < 4; i++) kernel();
  finish();
  if (argc > 5) never();
  return 0;
}
