// Functions that are handed over: sorting with a comparison of ours, functions that count, that end the program.
#include "inputs.h"

KERNEL int ascending(const void* left, const void* right) {
  const int a = *(const int*)left;
  const int b = *(const int*)right;
  return (a > b) - (a < b);
}

static int comparisons;

KERNEL int counted(const void* left, const void* right) {
  comparisons++;
  return ascending(left, right);
}

/// Each row is sorted by itself.
KERNEL void sort_rows(int rows, int columns, int (*a)[columns]) {
  FOR(int i = 0, i < rows, i++) {  // expect: parallel
    qsort(a[i], (size_t)columns, sizeof(int), ascending);
  }
}

KERNEL void sort_rows_counted(int rows, int columns, int (*a)[columns]) {
  REDUCTION(ADD, comparisons);
  FOR(int i = 0, i < rows, i++) {  // expect: reduction(+)
    qsort(a[i], (size_t)columns, sizeof(int), counted);
  }
}

/// Parts that overlap: each sorts what the one before left.
KERNEL void sort_overlapping(int* a, int n) {
  FOR(int i = 0, i + 4 <= n, i += 2) {  // expect: no: two elements of the part before
    qsort(a + i, 4, sizeof(int), ascending);
  }
}

KERNEL int doubled(int x, int y) { return 2 * x + y % 3; }
KERNEL int added(int x, int y) { return x + y; }

KERNEL void map(int* b, const int* a, int n, int (*function)(int, int)) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    b[i] = function(a[i], i);
  }
}

/// The function makes the next value from the last one.
KERNEL int fold(const int* a, int n, int (*function)(int, int)) {
  STATE(int, s, 1);
  FOR(int i = 0, i < n, i++) {  // expect: no: s, through the function
    s = function(s, a[i]);
  }
  return s;
}

KERNEL int fold_by_adding(const int* a, int n) {
  STATE(int, s, 1);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    s = added(s, a[i]);
  }
  return s;
}

struct counter {
  int most, sum;
  int (*next)(struct counter*, int);
};

KERNEL int next_sum(struct counter* self, int x) {
  self->sum += x;
  return x + 1;
}

/// An accumulator in a structure, behind a function in the structure.
KERNEL void through_structure(int* b, const int* a, int n, struct counter* counter) {
  REDUCTION(ADD, counter->sum);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    b[i] = counter->next(counter, a[i]);
  }
}

KERNEL int next_most(struct counter* self, int x) {
  self->most = x > self->most ? x : self->most;
  return self->most;
}

/// The same with another function: what it returns is the most so far.
KERNEL void through_structure_used(int* b, const int* a, int n, struct counter* counter) {
  FOR(int i = 0, i < n, i++) {  // expect: no: the most so far
    b[i] = counter->next(counter, a[i]);
  }
}

KERNEL void stop_above(int x, int limit) {
  if (x > limit) exit(0);
}

/// Ends with the program, in a callee.
KERNEL void until_end(int* b, const int* a, int n, int limit) {
  // by-argument: a callee that data decide to end the program ends the loop
  for (int i = 0; i < n; i++) {  // expect: no: left by exit in a callee
    b[i] = a[i] * 2;
    stop_above(a[i], limit);
  }
}

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  int* const a = some_ints(n * 9, 1, 999);
  int* const b = some_ints(n, 0, 0);
  sort_rows_counted(n / 2, 9, (int(*)[9])a);
  sort_rows(n - n / 2, 9, (int(*)[9])(a + n / 2 * 9));
  sort_overlapping(a, n);
  show_ints("sorted", a, 9 * n);
  printf("%d\n", comparisons);
  map(b, a, n, doubled);
  show_ints("mapped", b, n);
  printf("%d %d\n", fold(a, n, doubled) & 0xffff, fold_by_adding(a, n));
  struct counter* const counter = block_of(1, sizeof(struct counter));
  *counter = (struct counter){0, 0, next_sum};
  through_structure(b, a, n, counter);
  counter->next = next_most;
  int* const unsorted = some_ints(n, 1, 99);
  unsorted[n / 2] = 200;
  through_structure_used(b, unsorted, n, counter);
  show_ints("counted", b, n);
  printf("%d %d\n", counter->sum, counter->most);
  until_end(b, unsorted, n, 150);
  return 0;
}
