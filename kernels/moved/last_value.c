// Values that are needed behind the loop: of a global variable whose store is moved there, of a variable that is in a
// register by then, and of variables that only some iterations set, or one way or the other.
#include <stdio.h>

enum { N = 4000 };
double a[N], b[N];
double shared;
int marks[N];
int whole[N], sums[N], every;

__attribute__((noinline)) void through_global(void) {
  for (int i = 0; i < N; i++) {  // loop: verdict yes unknown; needs lastprivate\(shared\)
    shared = a[i] * 3;
    b[i] = shared * shared;
  }
}

__attribute__((noinline)) double through_register(void) {
  double t = 0;
  for (int i = 0; i < N; i++) {  // loop: verdict yes unknown; needs lastprivate
    t = a[i] * 2;
    b[i] = t + 1;
  }
  return t;
}

__attribute__((noinline)) int last_mark(void) {
  int found = -1;
  for (int i = 0; i < N; i++)  // loop: needs found
    if (marks[i] > 500) found = i;
  return found;
}

__attribute__((noinline)) double value_at_last_mark(void) {
  double found = -1;
  for (int i = 0; i < N; i++)  // loop: needs found
    if (marks[i] > 500) found = a[i];
  return found;
}

__attribute__((noinline)) double stored_at_marks(void) {
  double found = -1;
  for (int i = 0; i < N; i++)  // loop: needs found|unknown; never lastprivate
    if (marks[i] > 500) {
      found = a[i] * 2;
      b[i] = found;
    }
  return found;
}

__attribute__((noinline)) void every_third(int n) {
  for (int i = 0; i < n; i++) {  // loop: needs every; never lastprivate
    if (i % 3 == 0) every = whole[i];
    sums[i] += i;
  }
}

__attribute__((noinline)) void either(int n) {
  for (int i = 0; i < n; i++) {  // loop: verdict yes unknown; at -O0 needs lastprivate\(every\)
    if (marks[i] > 500)
      every = whole[i];
    else
      every = -whole[i];
    sums[i] += every;
  }
}

int main(void) {
  unsigned s = 1;
  for (int i = 0; i < N; i++) {
    s = s * 1103515245U + 12345U;
    a[i] = s >> 16;
    marks[i] = (s >> 16) % 1000;
    whole[i] = i * 7919 % 1009 + 1;
  }
  every_third(N - 1);
  printf("%d\n", every);
  either(N);
  printf("%d %d\n", every, sums[9]);
  through_global();
  const double t = through_register();
  printf("%g %g %g %d %g\n", shared, t, b[7], last_mark(), value_at_last_mark() + stored_at_marks());
  return 0;
}
