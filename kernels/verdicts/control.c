// Loops whose control hangs on data: early exits, convergence, filters, values that are loaded under a condition.
#include "inputs.h"

KERNEL int find(const int* a, int n, int wanted) {
  STATE(int, at, -1);
  FOR(int i = 0, i < n, i++) {  // expect: no: left at what it finds
    if (a[i] == wanted) {
      at = i;
      break;
    }
  }
  return at;
}

/// The way out is there, but this run never takes it.
KERNEL int find_nothing(int* b, const int* a, int n, int wanted) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    if (a[i] == wanted) break;
    b[i] = a[i] + 1;
  }
  return b[n - 1];
}

KERNEL int find_and_return(const int* a, int n, int wanted) {
  FOR(int i = 0, i < n, i++) {  // expect: no: left at what it finds
    if (a[i] == wanted) return i;
  }
  return -1;
}

KERNEL int is_last(int x, int wanted) { return x == wanted; }

KERNEL int copy_until(int* b, const int* a, int n, int wanted) {
  STATE(int, count, 0);
  FOR(int i = 0, i < n, i++) {  // expect: no: a callee decides that it ends
    b[i] = a[i];
    count = i + 1;
    if (is_last(a[i], wanted)) break;
  }
  return count;
}

KERNEL double converge(double* x, int n) {
  STATE(double, change, 100);
  WHILE(change > 1) {  // expect: no: until nothing changes
    STATE(double, sum, 0);
    REDUCTION(ADD, sum);
    FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
      sum += x[i];
      x[i] = x[i] / 2;
    }
    change = sum / n;
  }
  return change;
}

KERNEL void greatest_divisors(int* out, const int* a, const int* b, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    STATE(int, x, a[i]);
    STATE(int, y, b[i]);
    WHILE(y != 0) {  // expect: no: one remainder after the other
      const int remainder = x % y;
      x = y;
      y = remainder;
    }
    out[i] = x;
  }
}

/// How long until it escapes: the inner loop is a chain, the points are not.
KERNEL void escape(int* out, const double* c, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    STATE(double, z, 0);
    STATE(int, steps, 0);
    WHILE(z < 1000 && steps < 20) {  // expect: no: z
      z = z * z / 8 + c[i];
      steps++;
    }
    out[i] = steps;
  }
}

KERNEL void search_sorted(int* out, const int* sorted, const int* wanted, int n) {
  // hidden: gcc -O2: GCC makes one loop of both, whose ways back are those of the two
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    STATE(int, low, 0);
    STATE(int, high, n);
    // hidden: gcc -O2: GCC makes one loop of both, whose ways back are those of the two
    WHILE(low < high) {  // expect: no: the half that is left
      const int middle = (low + high) / 2;
      if (sorted[middle] < wanted[i])
        low = middle + 1;
      else
        high = middle;
    }
    out[i] = low;
  }
}

KERNEL int compact(int* b, const int* a, int n) {
  STATE(int, k, 0);
  FOR(int i = 0, i < n, i++) {  // expect: no: the place of the next one
    if (a[i] > 0) b[k++] = a[i];
  }
  return k;
}

/// On sorted data, k - i is the same from somewhere on. It is data all the same.
KERNEL int compact_sorted(int* b, const int* a, int n) {
  STATE(int, k, 0);
  FOR(int i = 0, i < n, i++) {  // expect: no: the place of the next one
    if (a[i] > 0) b[k++] = a[i];
  }
  return k;
}

/// Every third is kept, whatever the data: k is an index.
KERNEL void expand(int* b, const int* a, int n) {
  int k = 0;
  FOR(int i = 0, i < n, (i += 3, k++)) {  // expect: parallel
    b[k] = a[i] + k;
  }
}

/// The last value that was not zero.
KERNEL void fill_gaps(int* b, const int* a, int n) {
  STATE(int, last, 7);
  FOR(int i = 0, i < n, i++) {  // expect: no: loaded under a condition, used later
    RELOAD(last, a[i - 1]);
    if (a[i] > 0) last = a[i];
    b[i] = last;
  }
}

/// Set in one iteration only.
KERNEL void from_first(int* b, const int* a, int n) {
  STATE(int, first, 0);
  FOR(int i = 0, i < n, i++) {  // expect: no: set in another iteration
    if (i == n / 3) first = a[i] * 3;
    b[i] = a[i] + first;
  }
}

KERNEL void differences(int* b, const int* a, int n) {
  STATE(int, previous, a[0]);
  FOR(int i = 1, i < n, i++) {  // expect: parallel: reload previous
    RELOAD(previous, a[i - 1]);
    b[i] = a[i] - previous;
    previous = a[i];
  }
}

/// The same into the array itself: a[i - 1] is no longer what it was.
KERNEL void differences_in_place(int* a, int n) {
  STATE(int, previous, a[0]);
  FOR(int i = 1, i < n, i++) {  // expect: no: a[i - 1] was overwritten
    RELOAD(previous, a[i - 1]);
    const int value = a[i];
    a[i] = value - previous;
    previous = value;
  }
}

/// What is kept is not what was loaded.
KERNEL void differences_of_squares(int* b, const int* a, int n) {
  STATE(int, previous, 0);
  FOR(int i = 0, i < n, i++) {  // expect: no: the last square is computed, not loaded
    const int square = a[i] * a[i];
    b[i] = square - previous;
    previous = square;
  }
}

KERNEL void rotate(double* out, double first, double second, int n) {
  STATE(double, a, first);
  STATE(double, b, second);
  FOR(int i = 0, i < n, i++) {  // expect: no: a and b trade places
    out[i] = a;
    const double t = a;
    a = b;
    b = t;
  }
}

/// The bound is data that the loop itself changes.
KERNEL int moving_bound(int* a, int n) {
  STATE(int, bound, n / 2);
  FOR(int i = 0, i < bound && i < n, i++) {  // expect: no: the bound
    if (a[i] % 4 == 1) bound++;
    a[i] += 2;
  }
  return bound;
}

/// Every iteration by itself does the same; only how many there are is decided on the way.
KERNEL int until_raised(int* b, char* flag, const int* a, int n) {
  FOR(int i = 0, i < n && !flag[i], i++) {  // expect: no: a flag that the last iteration raised
    b[i] = a[i] * 3;
    flag[i + 1] = a[i] == a[n / 2];
  }
  return b[n / 2];
}

KERNEL void while_index(int* b, const int* a, int n) {
  int i = 0;
  WHILE_INDEX(i < n, i++) {  // expect: parallel
    b[i] = 5 * a[i];
    i++;
  }
}

KERNEL void count_down(int* b, const int* a, int n) {
  int i = n;
  WHILE_INDEX(i > 0, i--) {  // expect: parallel
    i--;
    b[i] = 7 - a[i];
  }
}

/// The step is loaded each time: only the data make it even.
KERNEL int data_step(int* b, const int* step, int n) {
  STATE(int, k, 0);
  FOR(int i = 0, i < n, i++) {  // expect: no: k is a sum of data
    b[k] = i;
    k += step[i];
  }
  return k;
}

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  const int* const a = some_ints(n, -50, 50);
  const int* const positive = some_ints(n, 1, 500);
  const int* const other = some_ints(n, 1, 500);
  int* const b = some_ints(2 * n, 0, 0);
  printf("%d %d\n", find(a, n, a[n / 2]), find_and_return(a, n, a[n - 3]));
  printf("%d\n", find_nothing(b, a, n, 1000));
  printf("%d\n", copy_until(b, a, n, a[n - 4]));
  show_ints("copied", b, n);
  printf("%g\n", converge(some_doubles(n, 50, 99), n));
  greatest_divisors(b, positive, other, n);
  show_ints("divisors", b, n);
  escape(b, some_doubles(n, 0, 9), n);
  show_ints("escaped", b, n);
  int* const sorted = some_ints(n, 0, 0);
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    sorted[i] = 5 * i - n;
  }
  search_sorted(b, sorted, positive, n);
  show_ints("places", b, n);
  printf("%d\n", compact_sorted(b, sorted, n));
  printf("%d\n", compact(b, a, n));
  expand(b, a, n);
  show_ints("expanded", b, n);
  fill_gaps(b, a, n);
  show_ints("filled", b, n);
  from_first(b, positive, n);
  show_ints("first", b, n);
  differences(b, a, n);
  differences_in_place(b, n);
  show_ints("differences", b, n);
  differences_of_squares(b, a, n);
  show_ints("squares", b, n);
  double* const out = some_doubles(n, 0, 0);
  rotate(out, 3, 8, n);
  show_doubles("rotated", out, n);
  int* const moving = some_ints(n, 1, 2);
  printf("%d\n", moving_bound(moving, n));
  printf("%d\n", until_raised(b, calloc((size_t)n + 1, 1), a, n));
  while_index(b, a, n);
  count_down(b, b, n);
  printf("%d\n", data_step(b, some_ints(n, 1, 1), n));
  show_ints("steps", b, n);
  return 0;
}
