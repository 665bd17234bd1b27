// Sums of which more than the last value is used behind the loop: they are no reductions.
#include <stdio.h>

enum { N = 4001 };
double x[N];
int counts[N];

__attribute__((noinline)) double half_way(double* whole) {
  double s = 0, mid = 0;
  for (int i = 0; i < N; i++) {  // loop: verdict no unknown
    s += x[i];
    if (i == N / 2) mid = s;
  }
  *whole = s;
  return mid;
}

__attribute__((noinline)) int count_half_way(int* whole) {
  int s = 0, mid = 0;
  for (int i = 0; i < N; i++) {  // loop: verdict no unknown
    s += counts[i];
    if (i == N / 2) mid = s;
  }
  *whole = s;
  return mid;
}

__attribute__((noinline)) int all_but_one(int* whole) {
  int s = 0, t = 0;
  for (int i = 0; i < N; i++) {  // loop: verdict no unknown
    t = s;
    s += counts[i];
  }
  *whole = s;
  return t;
}

__attribute__((noinline)) double sum_and_copy(double* copy) {
  double s = 0;
  for (int i = 0; i < N; i++) s += x[i];  // loop: verdict reduction; needs \+:s
  *copy = s;
  return s;
}

int main(void) {
  double whole, part;
  int count, part_count;
  for (int i = 0; i < N; i++) x[i] = counts[i] = i * 37 % 101;
  part = half_way(&whole);
  printf("%g %g\n", part, whole);
  part_count = count_half_way(&count);
  printf("%d %d\n", part_count, count);
  part_count = all_but_one(&count);
  printf("%d %d\n", part_count, count);
  part = sum_and_copy(&whole);
  printf("%g %g\n", part, whole);
  return 0;
}
