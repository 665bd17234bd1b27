// An ifunc of its own, chosen by a resolver at load time, and the C library's ifunc'ed string functions.
#include <stdio.h>
#include <string.h>

static int plain(int x) { return x + 1; }
static int other(int x) { return x + 2; }
static int (*choose(void))(int) { return sizeof(void*) == 8 ? plain : other; }
int chosen(int x) __attribute__((ifunc("choose")));
static int unused_reference(void) { return other(0); }

int main(void) {
  static char a[1000], b[1000];
  long sum = 0;
  for (int i = 0; i < 100; i++) {
    memset(a, 'a' + i % 26, (size_t)i * 9);
    a[i * 9] = 0;
    memcpy(b, a, sizeof b);
    memmove(b + 3, b, 500);
    sum += chosen((int)strlen(a)) + (strcmp(a, b) == 0) + (strchr(b, 'q') != NULL) + (memchr(b, 0, sizeof b) != NULL);
    sum += memcmp(a, b, sizeof a) == 0;
    sum += (long)strspn(b, "abc") + (strstr(b, "zzz") != NULL) + (long)strnlen(b, 77);
  }
  printf("%ld\n", sum + unused_reference());
  return 0;
}
