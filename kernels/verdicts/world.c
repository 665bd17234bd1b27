// Loops around calls: output, random numbers, a tokenizer, memoised recursion, the mathematics library, saved
// registers.
#include <math.h>

#include "inputs.h"

KERNEL void print_all(const int* a, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: no: output has an order
    printf("%d%c", a[i], i + 1 < n ? ' ' : '\n');
  }
}

KERNEL void draw(int* b, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: no: rand() has a state
    b[i] = rand() % 100;
  }
}

/// A generator of the program's own.
KERNEL void draw_ourselves(int* b, int n, unsigned seed) {
  STATE(unsigned, state, seed);
  FOR(int i = 0, i < n, i++) {  // expect: no: the generator's state
    state = state * 1664525u + 1013904223u;
    b[i] = (int)(state >> 24);
  }
}

/// Numbers that are a function of the index need no state.
KERNEL void draw_by_index(int* b, int n, unsigned seed) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    b[i] = (int)(noise(seed, (unsigned)i) % 100);
  }
}

static char text[128];

KERNEL int count_tokens(int* lengths) {
  STATE(int, count, 0);
  STATE(char*, token, strtok(text, " "));
  WHILE(token != NULL) {  // expect: no: where strtok stands
    lengths[count++] = (int)strlen(token);
    token = strtok(NULL, " ");
  }
  return count;
}

static int known[64];
static int calls;

/// The number of ways to climb n stairs by 1, 2 or 3; counts the calls that it takes.
KERNEL int ways(int n) {
  calls++;
  if (n < 2) return 1;
  if (known[n] == 0) known[n] = ways(n - 1) + ways(n - 2) + (n > 2 ? ways(n - 3) : 0);
  return known[n];
}

KERNEL void climb(int* b, int* cost, int n) {
  FOR(int i = 0, i < n && i < 14, i++) {  // expect: no: what is known already
    calls = 0;
    b[i] = ways(i);
    cost[i] = calls;
  }
}

/// The same with nothing kept: only the frames of the recursion are reused.
KERNEL int ways_anew(int n) {
  if (n < 2) return 1;
  return ways_anew(n - 1) + ways_anew(n - 2);
}

KERNEL void climb_anew(int* b, int n) {
  FOR(int i = 0, i < n && i < 12, i++) {  // expect: parallel
    b[i] = ways_anew(i);
  }
}

/// The first call goes through the lazy resolver.
KERNEL void exponentials(double* b, const double* a, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    b[i] = exp(-a[i] / 50);
  }
}

KERNEL int mixed(int x) { return x ^ x << 3; }

/// Its arguments are needed after calls, so it saves registers of its caller and restores them.
KERNEL int busy(int a, int b, int c) {
  const int first = mixed(a - b);
  const int second = mixed(b - c);
  return first * a + second * b - mixed(c - a) * c;
}

KERNEL void around_call(int* out, const int* in, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    out[i] = busy(in[i], i, n) + busy(n, in[i], i);
  }
}

static int last_id;

KERNEL int next_id(void) { return ++last_id; }

/// The callee counts by ones: state that happens to be regular, not what the loop counts by.
KERNEL void number(int* ids, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: no: the callee counts
    ids[i] = next_id();
  }
}

KERNEL int next_id_after(int gap) { return last_id += gap; }

KERNEL void number_with_gaps(int* ids, const int* gaps, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: no: the callee adds data to it
    ids[i] = next_id_after(gaps[i]);
  }
}

KERNEL double scaled(const double* a, int at, int n) { return a[at] * 2 + a[n - 1 - at]; }

KERNEL void call_per_element(double* b, const double* a, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    b[i] = scaled(a, i, n);
  }
}

/// Functions called through a table that the data index.
KERNEL int twice(int x) { return 2 * x; }
KERNEL int square(int x) { return x * x; }
KERNEL int negated(int x) { return -x; }

KERNEL void dispatch(int* b, const int* a, int n) {
  static int (*const kTable[])(int) = {twice, square, negated};
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    b[i] = kTable[a[i] % 3](a[i]);
  }
}

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  srand(input_seed);
  const int* const a = some_ints(n, 0, 99);
  int* const b = some_ints(n, 0, 0);
  int* const cost = some_ints(n, 0, 0);
  const double* const x = some_doubles(n, 1, 99);
  double* const y = some_doubles(n, 0, 0);
  print_all(a, n);
  draw(b, n);
  show_ints("drawn", b, n);
  draw_ourselves(b, n, input_seed);
  show_ints("drawn", b, n);
  draw_by_index(b, n, input_seed);
  show_ints("drawn", b, n);
  strcpy(text, "the loop is a chain of words that one call cuts off");
  printf("%d\n", count_tokens(b));
  show_ints("lengths", b, 11);
  climb(b, cost, n);
  show_ints("ways", b, 12);
  show_ints("calls", cost, 12);
  climb_anew(b, n);
  show_ints("ways", b, 12);
  exponentials(y, x, n);
  show_doubles("exp", y, n);
  around_call(b, a, n);
  show_ints("busy", b, n);
  number(b, n);
  number_with_gaps(b, b, n / 2);
  call_per_element(y, x, n);
  show_doubles("scaled", y, n);
  dispatch(cost, a, n);
  show_ints("ids", b, n);
  show_ints("dispatched", cost, n);
  return 0;
}
