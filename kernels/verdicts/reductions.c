// Reductions of all kinds, and loops that look like them.
#include "inputs.h"

KERNEL double sum(const double* a, int n) {
  STATE(double, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    s += a[i];
  }
  return s;
}

/// s - a[i] adds; a[i] - s does not.
KERNEL int difference(const int* a, int n) {
  STATE(int, s, 1000);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    s -= a[i];
  }
  return s;
}

KERNEL int alternating(const int* a, int n) {
  STATE(int, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: no: the variable is the right operand of -
    s = a[i] - s;
  }
  return s;
}

KERNEL unsigned product(const int* a, int n) {
  STATE(unsigned, s, 1);
  REDUCTION(MUL, s);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(*)
    s *= 2 * (unsigned)a[i] + 1;
  }
  return s;
}

KERNEL int exclusive_or(const int* a, int n) {
  STATE(int, s, 0);
  REDUCTION(XOR, s);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(^)
    s ^= a[i];
  }
  return s;
}

KERNEL int and_or(const int* a, int n, int* either) {
  STATE(int, all, -1);
  STATE(int, any, 0);
  REDUCTION(AND, all);
  REDUCTION(OR, any);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(&,|)
    all &= a[i] | 0x41;
    any |= a[i] & 0x3c;
  }
  *either = any;
  return all;
}

KERNEL int branchy_max(const int* a, int n) {
  STATE(int, m, a[0]);
  REDUCTION(MAX, m);
  FOR(int i = 1, i < n, i++) {  // expect: reduction(max)
    if (a[i] > m) m = a[i];
  }
  return m;
}

KERNEL double branch_free_max(const double* a, int n) {
  STATE(double, m, a[0]);
  REDUCTION(MAX, m);
  FOR(int i = 1, i < n, i++) {  // expect: reduction(max)
    m = a[i] > m ? a[i] : m;
  }
  return m;
}

KERNEL void range(const int* a, int n, int* low, int* high) {
  STATE(int, least, a[0]);
  STATE(int, most, a[0]);
  REDUCTION(MIN, least);
  REDUCTION(MAX, most);
  FOR(int i = 1, i < n, i++) {  // expect: reduction(min,max)
    least = a[i] < least ? a[i] : least;
    most = a[i] > most ? a[i] : most;
  }
  *low = least;
  *high = most;
}

KERNEL int position_of_max(const int* a, int n) {
  STATE(int, m, -1);
  STATE(int, at, -1);
  REDUCTION(MAX, m);
  FOR(int i = 0, i < n, i++) {  // expect: no: the position hangs on the largest so far
    if (a[i] > m) {
      m = a[i];
      at = i;
    }
  }
  return at;
}

KERNEL int conditional_sum(const int* a, int n) {
  STATE(int, s, 0);
  STATE(int, count, 0);
  REDUCTION(ADD, s);
  REDUCTION(ADD, count);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    if (a[i] % 3 != 0) {
      s += a[i];
      count++;
    }
  }
  return s * count;
}

KERNEL void running_sum(int* b, const int* a, int n) {
  STATE(int, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: no: each sum so far is used
    s += a[i];
    b[i] = s;
  }
}

/// Each sum is i + 1, but only because the data say so.
KERNEL void running_sum_of_ones(int* b, const int* ones, int n) {
  STATE(int, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: no: data, whatever they are
    s += ones[i];
    b[i] = s;
  }
}

KERNEL int with_reset(const int* a, const int* c, int n) {
  STATE(int, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: no: the variable has another definition
    if (c[i] == 0) s = 0;
    s += a[i];
  }
  return s;
}

KERNEL int horner(const int* a, int n) {
  STATE(unsigned, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: no: two operations
    s = s * 5 + (unsigned)a[i];
  }
  return (int)s;
}

KERNEL int saturating(const int* a, int n) {
  STATE(int, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: no: cut off on the way
    s = s + a[i] > 20 ? 20 : s + a[i];
  }
  return s;
}

/// Rounds towards zero each time: 1000 - 3.7 loses more than -3.7 does.
KERNEL int truncating(const int* a, int n) {
  STATE(int, s, 1000000);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: no: conversion in every step
    s = (int)(s - 0.37 * a[i]);
  }
  return s;
}

/// The variable decides what else is done.
KERNEL int sum_to_limit(int* b, const int* a, int n) {
  STATE(int, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: no: the sum so far decides
    s += a[i];
    b[i] = s > 20;
  }
  return s;
}

/// More variables than registers: some are kept on the stack.
KERNEL double spilled(const double* a, int n) {
  STATE(double, s0, 0);
  STATE(double, s1, 0);
  STATE(double, s2, 0);
  STATE(double, s3, 0);
  STATE(double, s4, 0);
  STATE(double, s5, 0);
  STATE(double, s6, 0);
  STATE(double, s7, 0);
  STATE(double, s8, 0);
  STATE(double, s9, 0);
  STATE(double, t0, 0);
  STATE(double, t1, 0);
  STATE(double, t2, 0);
  STATE(double, t3, 0);
  STATE(double, t4, 0);
  STATE(double, t5, 0);
  STATE(double, t6, 0);
  STATE(double, t7, 0);
  REDUCTION(ADD, s0);
  REDUCTION(ADD, s1);
  REDUCTION(ADD, s2);
  REDUCTION(ADD, s3);
  REDUCTION(ADD, s4);
  REDUCTION(ADD, s5);
  REDUCTION(ADD, s6);
  REDUCTION(ADD, s7);
  REDUCTION(ADD, s8);
  REDUCTION(ADD, s9);
  REDUCTION(ADD, t0);
  REDUCTION(ADD, t1);
  REDUCTION(ADD, t2);
  REDUCTION(ADD, t3);
  REDUCTION(ADD, t4);
  REDUCTION(ADD, t5);
  REDUCTION(ADD, t6);
  REDUCTION(ADD, t7);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    const double x = a[i];
    s0 += x;
    s1 += 2 * x;
    s2 += x * x;
    s3 += x + 1;
    s4 += x - 2;
    s5 += 3 * x;
    s6 += 5 - x;
    s7 += 7 * x;
    s8 += x * (x - 1);
    s9 += x * (x + 1);
    t0 += x * 11;
    t1 += x * 12;
    t2 += x * 13;
    t3 += x * 14;
    t4 += x + 15;
    t5 += x + 16;
    t6 += x + 17;
    t7 += x + 18;
  }
  return s0 + 2 * s1 + 3 * s2 + 4 * s3 + 5 * s4 + 6 * s5 + 7 * s6 + 8 * s7 + 9 * s8 + 10 * s9 + t0 - t1 + t2 - t3 + t4 -
         t5 + 2 * t6 - 3 * t7;
}

KERNEL void histogram(int* bins, const int* x, int n) {
  REDUCTION_EACH(ADD, bins, 8);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    bins[x[i] & 7]++;
  }
}

/// How many there were before it: the bins have another use.
KERNEL void ranks(int* rank, int* bins, const int* x, int n) {
  REDUCTION_EACH(ADD, bins, 8);
  FOR(int i = 0, i < n, i++) {  // expect: no: the count so far is used
    rank[i] = bins[x[i] & 7]++;
  }
}

KERNEL void bits(unsigned* words, int n) {
  REDUCTION_EACH(OR, words, 2);
  FOR(int i = 0, i < n && i < 64, i += 3) {  // expect: reduction(|)
    words[i >> 5] |= 1u << (i & 31);
  }
}

/// Every iteration that finds one writes the same; none reads.
KERNEL int any_multiple(const int* a, int n) {
  STATE(int, any, 0);
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    if (a[i] % 5 == 0) any = 1;
  }
  return any;
}

KERNEL int last_multiple(const int* a, int n) {
  STATE(int, at, -1);
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    if (a[i] % 3 == 0) at = i;
  }
  return at;
}

static double total;

KERNEL void add_to_total(double x) { total += x; }

KERNEL void add_into(double* s, double x) { *s += x; }

KERNEL void global_accumulator(const double* a, int n) {
  REDUCTION(ADD, total);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    add_to_total(a[i]);
  }
}

KERNEL double passed_accumulator(const double* a, int n) {
  STATE(double, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    add_into((double*)&s, a[i]);
  }
  return s;
}

/// Two variables: every sum so far goes to *last. In parts, *last would get one of a part.
KERNEL double stored_sum(double* last, const double* a, int n) {
  STATE(double, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: no: each sum so far is stored
    s += a[i];
    *last = s;
  }
  return s;
}

/// One variable, that a compiler keeps in a register and stores as well: b might be in a.
KERNEL void sum_in_memory(double* b, const double* a, int n) {
  *b = 0;
  REDUCTION(ADD, *b);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    *b += a[i];
  }
}

/// The same with a first value that is computed.
KERNEL void product_in_memory(double* b, const double* a, int n) {
  *b = a[0] * 0.5 + a[1];
  REDUCTION(MUL, *b);
  FOR(int i = 2, i < n, i++) {  // expect: reduction(*)
    *b *= a[i] * 0.01;
  }
}

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  double* const a = some_doubles(n, 1, 99);
  int* const k = some_ints(n, 0, 9);
  int* const wide = some_ints(n, 0, 9999);
  k[n / 2] = 0;
  k[n - 1] = 5;
  wide[0] = wide[n - 1] = 0;
  wide[n / 3] = 10000;
  wide[n - 2] = 1;
  a[0] = 1;
  a[n / 3] = 100;
  a[n - 2] = 2;
  const int* const ones = some_ints(n, 1, 1);
  int* const b = some_ints(n, 0, 9);
  int low, high, either;
  printf("%g %d %d %u %d\n", sum(a, n), difference(k, n), alternating(wide, n), product(k, n), exclusive_or(wide, n));
  printf("%d\n", and_or(wide, n, &either));
  range(wide + 1, n - 1, &low, &high);
  printf("%d %d %g %d %d %d\n", either, branchy_max(wide, n), branch_free_max(a, n), low, high,
         position_of_max(wide, n));
  printf("%d\n", conditional_sum(k, n));
  running_sum(b, k, n);
  show_ints("sums", b, n);
  running_sum_of_ones(b, ones, n);
  show_ints("ones", b, n);
  printf("%d %d %d %d\n", with_reset(wide, k, n), horner(k, n), saturating(k, n), truncating(wide, n));
  printf("%d\n", sum_to_limit(b, k, n));
  show_ints("limit", b, n);
  printf("%g\n", spilled(a, n));
  int* const counts = calloc(8, sizeof(int));
  histogram(counts, wide, n);
  show_ints("bins", counts, 8);
  ranks(b, counts, wide, n);
  show_ints("ranks", b, n);
  unsigned* const words = calloc(2, sizeof(unsigned));
  bits(words, n);
  printf("%x %x %d %d\n", words[0], words[1], any_multiple(k, n), last_multiple(k, n));
  global_accumulator(a, n);
  printf("%g %g\n", total, passed_accumulator(a, n));
  double* const kept = some_doubles(3, 1, 99);
  stored_sum(kept, a, n);
  sum_in_memory(kept + 1, a, n);
  product_in_memory(kept + 2, a, n);
  printf("%g %g %g\n", kept[0], kept[1], kept[2]);
  return 0;
}
