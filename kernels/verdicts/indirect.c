// Subscripts from memory, sparse rows, tables.
#include "inputs.h"

KERNEL void gather(double* b, const double* a, const int* idx, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    b[i] = 2 * a[idx[i]];
  }
}

KERNEL void scatter(double* b, const double* a, const int* distinct, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    b[distinct[i]] = a[i];
  }
}

/// The last one wins, but no iteration reads what another wrote.
KERNEL void scatter_repeated(double* b, const double* a, const int* repeated, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    b[repeated[i]] = a[i];
  }
}

/// In this run, every subscript comes once.
KERNEL void update_distinct(double* b, const double* a, const int* distinct, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    b[distinct[i]] += a[i];
  }
}

KERNEL void update_repeated(double* b, const double* a, const int* repeated, int n) {
  REDUCTION_EACH(ADD, b, n);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    b[repeated[i]] += a[i];
  }
}

KERNEL void mix_repeated(double* b, const double* a, const int* repeated, int n) {
  REDUCTION_EACH(ADD, b, n);
  FOR(int i = 0, i < n, i++) {  // expect: no: two operations on a repeated element
    b[repeated[i]] = 3 * b[repeated[i]] - a[i];
  }
}

/// idx[i] < i: already overwritten.
KERNEL void from_before(double* a, const int* before, int n) {
  FOR(int i = 1, i < n, i++) {  // expect: no: a[before[i]]
    a[i] = a[before[i]] + 1;
  }
}

/// idx[i] > i: not overwritten yet.
KERNEL void from_after(double* a, const int* after, int n) {
  FOR(int i = 0, i < n - 1, i++) {  // expect: parallel
    a[i] = a[after[i]] + 1;
  }
}

/// The subscripts themselves are computed in the loop.
KERNEL void walk(int* order, const int* next, int n) {
  STATE(int, at, 0);
  FOR(int i = 0, i < n, i++) {  // expect: no: at = next[at]
    order[i] = at;
    at = next[at];
  }
}

KERNEL void sparse_rows(double* y, const double* x, const int* row, const int* column, const double* value, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    STATE(double, s, 0);
    REDUCTION(ADD, s);
    FOR(int k = row[i], k < row[i + 1], k++) {  // expect: reduction(+)
      s += value[k] * x[column[k]];
    }
    y[i] = s;
  }
}

/// The same matrix by columns: rows are updated from everywhere.
KERNEL void sparse_columns(double* y, const double* x, const int* start, const int* row, const double* value, int n) {
  REDUCTION_EACH(ADD, y, n);
  FOR(int j = 0, j < n, j++) {                      // expect: reduction(+)
    FOR(int k = start[j], k < start[j + 1], k++) {  // expect: parallel
      y[row[k]] += value[k] * x[j];
    }
  }
}

/// Open addressing: where a key goes depends on the keys before it.
KERNEL void insert_keys(int* table, int* probes, const int* keys, int n, int size) {
  FOR(int i = 0, i < n, i++) {  // expect: no: places that are taken
    STATE(int, at, keys[i] % (size / 4));
    STATE(int, steps, 0);
    WHILE(table[at] != 0) {  // expect: no: the next place to look
      at = (at + 1) % size;
      steps++;
    }
    table[at] = keys[i] + 1;
    probes[i] = steps;
  }
}

KERNEL void find_keys(int* found, const int* table, const int* keys, int n, int size) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    STATE(int, at, keys[i] % (size / 4));
    WHILE(table[at] != 0 && table[at] != keys[i] + 1) {  // expect: no: the next place to look
      at = (at + 1) % size;
    }
    found[i] = table[at] != 0 ? at : -1;
  }
}

KERNEL void first_seen(int* first, char* seen, const int* x, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: no: seen before
    first[i] = !seen[x[i]];
    seen[x[i]] = 1;
  }
}

KERNEL int without_repeats(int* kept, char* seen, const int* x, int n) {
  STATE(int, count, 0);
  FOR(int i = 0, i < n, i++) {  // expect: no: seen before, and the place of the next
    if (!seen[x[i]]) {
      seen[x[i]] = 1;
      kept[count++] = x[i];
    }
  }
  return count;
}

/// Subscripts for the loops above.
static void make_order(int* before, int* after, int* row, const int* draw, int n) {
  before[0] = 0;
  row[0] = 0;
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    after[i] = i + 1 < n ? i + 1 + draw[i] % (n - i - 1) : 0;
  }
  FOR(int i = 1, i < n, i++) {  // expect: parallel
    before[i] = draw[i] % i;
  }
  FOR(int i = 0, i < n, i++) {  // expect: no: row[i]
    row[i + 1] = row[i] + 1 + draw[i] % 4;
  }
}

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  double* const a = some_doubles(n, 1, 99);
  double* const b = some_doubles(n, 1, 99);
  const int* const distinct = permutation(n);
  const int* const repeated = some_ints(n, 0, n / 3);
  int* const before = some_ints(n, 0, 0);
  int* const after = some_ints(n, 0, 0);
  int* const row = some_ints(n + 1, 0, 0);
  make_order(before, after, row, some_ints(n, 0, 9999), n);
  gather(b, a, repeated, n);
  show_doubles("gather", b, n);
  scatter(b, a, distinct, n);
  show_doubles("scatter", b, n);
  scatter_repeated(b, a, repeated, n);
  update_distinct(b, a, distinct, n);
  update_repeated(b, a, repeated, n);
  show_doubles("updated", b, n);
  mix_repeated(b, a, repeated, n);
  from_before(b, before, n);
  show_doubles("before", b, n);
  from_after(a, after, n);
  show_doubles("after", a, n);
  int* const order = some_ints(n, 0, 0);
  walk(order, cycle(n), n);
  show_ints("order", order, n);
  const int* const column = some_ints(4 * n, 0, n - 1);
  const double* const value = some_doubles(4 * n, 1, 9);
  int* const spread = some_ints(4 * n, 0, 0);
  FOR(int i = 0, i < 4 * n, i++) {  // expect: parallel
    spread[i] = (i + column[0]) % n;
  }
  sparse_rows(b, a, row, column, value, n);
  sparse_columns(b, a, row, spread, value, n);
  show_doubles("sparse", b, n);
  int* const table = calloc((size_t)(2 * n), sizeof(int));
  const int* const keys = some_ints(n, 0, 3 * n);
  insert_keys(table, order, keys, n, n + 3);
  show_ints("probes", order, n);
  find_keys(order, table, keys, n, n + 3);
  show_ints("found", order, n);
  char* const seen = calloc((size_t)(4 * n), 1);
  first_seen(order, seen, repeated, n);
  show_ints("first", order, n);
  char* const seen_too = calloc((size_t)(4 * n), 1);
  printf("%d\n", without_repeats(order, seen_too, repeated, n));
  show_ints("kept", order, n);
  return 0;
}
