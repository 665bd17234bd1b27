// Values that are needed behind a loop, and that its last iteration does not make: an inner loop that sets them has no
// iterations by then, or what is kept was computed one iteration before.
#include <stdio.h>

enum { N = 64 };
double square[N][N];
double kept[N];
long a[N], b[N], o[N];

__attribute__((noinline)) double triangle(void) {
  double last = 0;
  for (int i = 0; i < N; i++)  // loop: needs ^last$; never lastprivate
    for (int j = i + 1; j < N; j++) {
      last = square[i][j] * 2;
      square[i][j] = last + 1;
    }
  return last;
}

__attribute__((noinline)) double condition(void) {
  double last = 0;
  for (int j = 0; j < N; j++)  // loop: needs ^last$; never lastprivate
    for (int i = 0; i < N; i++)
      if (i + j < N - 1) last = square[i][j] * 2;
  return last;
}

__attribute__((noinline)) double rectangle(void) {
  double last = 0;
  for (int i = 0; i < N; i++)  // loop: verdict yes; needs lastprivate
    for (int j = 0; j < N; j++) {
      last = square[i][j] * 2;
      square[i][j] = last + 1;
    }
  return last;
}

__attribute__((noinline)) long one_before(void) {
  long u = 5, p = 0;
  for (int i = 0; i < N; i++) {  // loop: needs unknown; never lastprivate
    p = u;
    u = b[i] + i;
    o[i] = a[i] + 1;
  }
  return p;
}

__attribute__((noinline)) double difference(void) {
  double now = 0, before = 0;
  for (int i = 0; i < N; i++) {  // loop: needs unknown; never lastprivate.before
    before = now;
    now = square[0][i] * 2 + i;
    kept[i] = now + 1;
  }
  return now - before;
}

/// Every iteration knows its own number.
__attribute__((noinline)) int counter(void) {
  int k = 0;
  for (int i = 0; i < N; i++) {  // loop: verdict yes; at -O0 needs lastprivate\(k\)
    k = i;
    kept[i] += k;
  }
  return k;
}

int main(void) {
  for (int i = 0; i < N; i++) {
    a[i] = i * 37 % 101;
    b[i] = i * 53 % 89;
    for (int j = 0; j < N; j++) square[i][j] = (i * 31 + j * 17) % 101 + 1;
  }
  printf("%g %g %g %ld %g %d %ld %g\n", triangle(), condition(), rectangle(), one_before(), difference(), counter(), o[3],
         kept[5]);
  return 0;
}
