// Quicksort and heapsort with comparison functions called through pointers, on stack and static data.
#include <stdio.h>

#include "sentinel.h"

typedef int (*Compare)(int, int);
enum { kN = 200 };
static int shared[kN];

static int __attribute__((noinline)) ascending(int a, int b) { return a < b; }
static int __attribute__((noinline)) descending(int a, int b) { return a > b; }

static void __attribute__((noinline)) quick_sort(int* v, int n, Compare before) {
  if (n < 2) return;
  int pivot = v[n / 2], i = 0, j = n - 1;
  for (;; i++, j--) {
    while (before(v[i], pivot)) i++;
    while (before(pivot, v[j])) j--;
    if (i >= j) break;
    int t = v[i];
    v[i] = v[j];
    v[j] = t;
  }
  quick_sort(v, i, before);
  quick_sort(v + i, n - i, before);
}

static void sift(int* v, int at, int n, Compare before) {
  for (int child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && before(v[child], v[child + 1])) child++;
    if (!before(v[at], v[child])) return;
    int t = v[at];
    v[at] = v[child];
    v[child] = t;
  }
}

static void __attribute__((noinline)) heap_sort(int* v, int n, Compare before) {
  for (int i = n / 2 - 1; i >= 0; i--) sift(v, i, n, before);
  for (int i = n - 1; i > 0; i--) {
    int t = v[0];
    v[0] = v[i];
    v[i] = t;
    sift(v, 0, i, before);
  }
}

int main(void) {
  int local[kN];
  volatile Compare orders[2] = {ascending, descending};
  for (int i = 0; i < kN; i++) shared[i] = local[i] = i * 7919 % 1009;
  SENTINEL_BEGIN();
  quick_sort(shared, kN, orders[0]);
  heap_sort(local, kN, orders[1]);
  SENTINEL_END();
  printf("%d %d %d %d\n", shared[0], shared[kN - 1], local[0], local[kN - 1]);
  return 0;
}
