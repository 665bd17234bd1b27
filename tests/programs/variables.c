// Loops whose variables are in memory where nothing is optimised: what is passed on from one iteration to the next
// through places in the frame, in the ways that make iterations alike or not.
#include <stdio.h>
#include <stdlib.h>

#define N 60
#define NOINLINE __attribute__((noipa))

static double a[N + 4], b[N + 4];
static long c[N + 4];

/// A sum, and values that are made anew each time.
NOINLINE static double sum(void) {
  double s = 0;
  for (int i = 0; i < N; i++) {
    double x = a[i] * 2;
    double y = x + 1;
    s += x * y;
  }
  return s;
}

/// What was loaded is rewritten before it is used, an iteration later.
NOINLINE static double rewritten(void) {
  double before = 0;
  double s = 0;
  for (int i = 0; i < N; i++) {
    double x = a[i];
    s += before;
    a[i] = s;
    before = x;
  }
  return s + before;
}

/// The same without the rewriting, and two iterations later.
NOINLINE static double handed_on(void) {
  double one = 0;
  double two = 0;
  double s = 0;
  for (int i = 0; i < N; i++) {
    double x = b[i];
    s += two;
    two = one;
    one = x;
  }
  return s + one + two;
}

/// Half of what is loaded is stored by the iteration, the other half was there before.
NOINLINE static long halves(void) {
  union {
    int half[2];
    long whole;
  } u = {{0, 3}};
  long s = 0;
  for (int i = 0; i < N; i++) {
    u.half[0] = i;
    s += u.whole;
  }
  return s;
}

/// One iteration sets what all later ones use.
NOINLINE static long set_once(int when) {
  long t = 7;
  long s = 0;
  for (int i = 0; i < N; i++) {
    if (i == when) t = s;
    c[i] += t;
    s += t + i;
  }
  return s;
}

/// Two variables change places.
NOINLINE static long swapped(void) {
  long p = 1;
  long q = 2;
  long s = 0;
  for (int i = 0; i < N; i++) {
    const long t = p;
    p = q;
    q = t;
    s += p * c[i];
  }
  return s + q;
}

/// A variable that another function may change, in turn a pointer into the frame.
NOINLINE static long through_a_pointer(int step) {
  long slots[4] = {1, 2, 3, 4};
  long* at = slots;
  long s = 0;
  for (int i = 0; i < N; i++) {
    *at = s + i;
    at = slots + (i * step & 3);
    s += *at & 15;
  }
  return s;
}

int main(int argc, char** argv) {
  const int when = argc > 1 ? atoi(argv[1]) : 5;
  for (int i = 0; i < N + 4; i++) {
    a[i] = i * 0.5;
    b[i] = i;
    c[i] = i;
  }
  double s = 0;
  for (int round = 0; round < 3; round++) s += sum() + rewritten() + handed_on();
  long t = 0;
  for (int round = 0; round < 3; round++)
    t += halves() + set_once(when + 20 * round) + swapped() + through_a_pointer(round);
  printf("%g %ld\n", s, t);
  return 0;
}
