// Sums that an iteration adds to several times, and extremes in global variables that a condition decides to store: at
// -O0 each step goes through memory, and the reduction's own copy is all that it needs.
#include <stdio.h>

enum { N = 3000 };
double a[N], b[N];
double greatest = -1e9;
static double least = 1e9;
struct {
  double sum, scratch;
} both;

__attribute__((noinline)) double two_steps(void) {
  double s = 0;
  for (int i = 0; i < N; i++) {  // loop: verdict reduction; at -O0 reuse none; at -O0 needs ^\+:s$
    s += a[i];
    s += b[i];
  }
  return s;
}

__attribute__((noinline)) double outer_and_inner(int n) {
  double e = 0;
  for (int i = 0; i < n; i++) {  // loop: verdict reduction unknown; at -O0 reuse none; at -O0 needs ^\+:e$
    e += a[i];
    for (int j = i; j < n && j < i + 3; j++) e -= b[j];
  }
  return e;
}

__attribute__((noinline)) void extremes(void) {
  for (int i = 0; i < N; i++) {  // loop: at -O0 verdict reduction; at -O0 reuse none; at -O0 needs ^max:greatest$
    if (a[i] > greatest) greatest = a[i];
    if (a[i] < least) least = a[i];
  }
}

__attribute__((noinline)) void other_part(void) {
  for (int i = 0; i < N; i++) {  // loop: verdict reduction no unknown; at -O0 reuse unknown private
    both.scratch = a[i] * 2;
    both.sum += both.scratch;
  }
}

__attribute__((noinline)) double last_is_another(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) {  // loop: verdict reduction no unknown
    s += a[i];
    if (i == n - 1) s = -1;
  }
  return s;
}

int main(void) {
  for (int i = 0; i < N; i++) {
    a[i] = i * 37 % 101 - 50 + (i == 2000) * 80 - (i == 1500) * 60;
    b[i] = i % 7;
  }
  const double s = two_steps(), e = outer_and_inner(N);
  extremes();
  other_part();
  const double l = last_is_another(N);
  printf("%g %g %g %g %g %g %g\n", s, e, greatest, least, both.sum, both.scratch, l);
  return 0;
}
