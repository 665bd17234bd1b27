// Sixty functions, each of which calls the next; at the bottom there is a loop.
#include <stdio.h>

enum { kRounds = 5, kInner = 17 };
static volatile long sum;
static volatile int rounds = kRounds;

static __attribute__((noinline)) void f0(int n) {
  for (int i = 0; i < n; i++) sum = sum + i;  // @inner
}

#define CHAIN(name, next)                             \
  static __attribute__((noinline)) void name(int n) { \
    next(n);                                          \
    sum = sum + 1;                                    \
  }
#define CHAIN10(p, below) \
  CHAIN(p##1, below)      \
  CHAIN(p##2, p##1)       \
  CHAIN(p##3, p##2)       \
  CHAIN(p##4, p##3)       \
  CHAIN(p##5, p##4)       \
  CHAIN(p##6, p##5)       \
  CHAIN(p##7, p##6)       \
  CHAIN(p##8, p##7)       \
  CHAIN(p##9, p##8)       \
  CHAIN(p##10, p##9)
CHAIN10(a, f0)
CHAIN10(b, a10)
CHAIN10(c, b10)
CHAIN10(d, c10)
CHAIN10(e, d10)
CHAIN10(f, e10)

int main(void) {
  for (int i = 0; i < rounds; i++) f10(kInner);  // @rounds
  printf("functions 60\nrounds %d\ninner %d\n", kRounds, kInner);
  return 0;
}
