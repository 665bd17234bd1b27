// Work of a body that is done outside of the loop: stores whose place does not change, what only the first iteration does,
// and last values that are computed behind the loop. In the source they are in the iterations.
#include <stdio.h>

enum { N = 4000 };
double a[N], v[N], w[N];
long o[8];
int count;

__attribute__((noinline)) void counted(void) {
  for (int i = 0; i < N; i++) {  // loop: needs count
    v[i] += a[i];
    count++;
  }
}

__attribute__((noinline)) void one_place(int n) {
  for (int i = 0; i < n; i++) {  // loop: needs \bo\b
    v[i] = a[i] * 2;
    o[0] = i * 3;
  }
}

/// The store becomes one of a number, and may lose its line.
__attribute__((noinline)) void one_number(void) {
  for (int i = 0; i < N; i++) {  // loop: needs \bo\b
    v[i] = a[i] * 2;
    o[1] = i + i;
    o[2 + i % 5] += i;
  }
}

__attribute__((noinline)) int only_first(void) {
  int first = 1;
  for (int i = 0; i < N; i++) {  // loop: needs unknown
    if (first) {
      w[i] = 1;
      first = 0;
    }
    v[i] = a[i] * 2;
  }
  return first;
}

__attribute__((noinline)) double last_sum(void) {
  double t = 0;
  for (int i = 0; i < N; i++) {  // loop: verdict yes unknown; needs lastprivate
    t = a[i] + 1;
    w[i] += 2;
  }
  return t;
}

__attribute__((noinline)) int steps(int n) {
  int k = 5;
  for (int i = 0; i < n; i++) {  // loop: needs linear|k
    w[i] = a[i] * 2;
    k += 3;
  }
  return k;
}

/// The sum is stored behind the loop, and its lanes are added up there: that is the reduction.
__attribute__((noinline)) void into_place(double* restrict p, int n) {
  for (int i = 0; i < n; i++) {  // loop: verdict reduction no unknown; never lastprivate
    *p += a[i];
  }
}

/// Elements that stand beside a vectorised loop are iterations like others, and a product that does not change is computed
/// before the loop.
__attribute__((noinline)) void rest(int n, double x, double y) {
  for (int i = 0; i < n; i++) {  // loop: verdict yes; reuse none private expand
    const double both = x * y;
    v[i] = a[i] * both;
  }
}

int main(void) {
  for (int i = 0; i < N; i++) a[i] = i * 31 % 101 + 1;
  double z = 0, r = 0;
  counted();
  one_place(N - 3);
  one_number();
  r += only_first() + last_sum() + steps(N);
  into_place(&z, N);
  rest(N - 1, z, r);
  printf("%g %g %d %ld %g\n", r, z, count, o[0], v[7] + w[9]);
  return 0;
}
