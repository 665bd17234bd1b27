// Structures, parts of words, block operations, loops that are unrolled by hand, temporaries.
#include <stdint.h>

#include "inputs.h"

struct point {
  int x, y;
  double weight;
};

KERNEL void field_to_field(struct point* p, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    p[i].x = 2 * p[i].y + 1;
  }
}

/// The next element's field, from one that is not written.
KERNEL void field_to_next(struct point* p, int n) {
  FOR(int i = 0, i < n - 1, i++) {  // expect: parallel
    p[i + 1].x = p[i].y - 3;
  }
}

KERNEL void field_chain(struct point* p, int n) {
  FOR(int i = 0, i < n - 1, i++) {  // expect: no: p[i].x
    p[i + 1].x = p[i].x + p[i].y;
  }
}

KERNEL void whole_structures(struct point* to, const struct point* from, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    to[i] = from[n - 1 - i];
  }
}

KERNEL void whole_structure_chain(struct point* p, int n) {
  FOR(int i = 0, i < n - 2, i++) {  // expect: no: p[i], two iterations ago
    p[i + 2] = p[i];
  }
}

/// A word is written, one of its bytes is read in the next iteration.
KERNEL void byte_of_last(int* words, int n) {
  FOR(int i = 1, i < n, i++) {  // expect: no: a byte of words[i - 1]
    words[i] = words[i] * 256 + ((unsigned char*)&words[i - 1])[1];
  }
}

KERNEL void byte_of_own(int* words, int* out, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    words[i] *= 77;
    out[i] = ((unsigned char*)&words[i])[2];
  }
}

/// Bytes are written, and read as part of a word that begins before them.
KERNEL void word_over_bytes(unsigned char* bytes, unsigned* out, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: no: three of the four bytes
    bytes[i + 3] = (unsigned char)(bytes[i + 3] * 3 + 1);
    memcpy(&out[i], bytes + i, 4);
  }
}

/// Words that lie apart.
KERNEL void word_over_own_bytes(unsigned char* bytes, unsigned* out, int n) {
  FOR(int i = 0, 4 * i + 3 < n, i++) {  // expect: parallel
    bytes[4 * i + 1] = (unsigned char)(i * 3 + 1);
    bytes[4 * i + 2] = 9;
    memcpy(&out[i], bytes + 4 * i, 4);
  }
}

/// Two halves of one word each, written by different iterations.
KERNEL void half_words(unsigned* words, int n) {
  uint16_t* const halves = (uint16_t*)(void*)words;
  FOR(int i = 0, i < 2 * n, i++) {  // expect: parallel
    halves[i] = (uint16_t)(i * 41);
  }
}

KERNEL void clear_rows(int n, int (*a)[n]) {
  FOR(int i = 0, i < n / 2, i++) {  // expect: parallel
    memset(a[i], i, (size_t)n * sizeof(int));
  }
}

KERNEL void copy_rows(int n, int (*a)[n]) {
  FOR(int i = 0, i < n / 2, i++) {  // expect: parallel
    memcpy(a[n / 2 + i], a[i], (size_t)n * sizeof(int));
  }
}

KERNEL void copy_row_on(int n, int (*a)[n]) {
  FOR(int i = 0, i < n - 1, i++) {  // expect: no: the row that was copied last
    memcpy(a[i + 1], a[i], (size_t)n / 2 * sizeof(int));
  }
}

/// Loops that compilers know: memset and memcpy at -O2.
KERNEL void clear_and_copy(int* a, const int* b, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    a[i] = 0;
  }
  FOR(int i = 0, i < n / 2, i++) {  // expect: parallel
    a[i] = b[i];
  }
}

KERNEL void unrolled(double* b, const double* a, int n) {
  FOR(int i = 0, i + 3 < n, i += 4) {  // expect: parallel
    b[i] = a[i] * 2;
    b[i + 1] = a[i + 1] * 2;
    b[i + 2] = a[i + 2] * 2;
    b[i + 3] = a[i + 3] * 2;
  }
}

KERNEL double unrolled_sum(const double* a, int n) {
  STATE(double, s, 0);
  STATE(double, t, 0);
  REDUCTION(ADD, s);
  REDUCTION(ADD, t);
  FOR(int i = 0, i + 3 < n, i += 4) {  // expect: reduction(+)
    s += a[i];
    t += a[i + 1];
    s += a[i + 2];
    t += a[i + 3];
  }
  return s - t;
}

KERNEL void unrolled_chain(double* a, int n) {
  FOR(int i = 0, i + 2 < n, i += 2) {  // expect: no: a[i]
    a[i + 1] = a[i] + 1;
    a[i + 2] = a[i + 1] * 2 - a[i + 2];
  }
}

/// Two at a time, and the two hang together, but not with the next two.
KERNEL void pairs(double* a, int n) {
  FOR(int i = 0, i + 1 < n, i += 2) {  // expect: parallel
    a[i] = a[i] * 3;
    a[i + 1] = a[i + 1] - a[i];
  }
}

static double temporary;
static struct point corner;

/// Variables that every iteration sets before it uses them.
KERNEL void temporaries(double* b, const double* a, int n) {
  STATE(double, t, 0);
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    t = a[i] + 1;
    temporary = t * t;
    corner.x = i;
    corner.weight = temporary - t;
    b[i] = corner.weight / (corner.x + 1);
  }
}

static int silent;

/// The last iteration writes the value that was there at entry: a store all the same.
KERNEL void silent_store(int* b, int n) {
  silent = 0;
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    silent = i * (n - 1 - i);
    b[i] = silent + 1;
  }
}

/// One path does not set it.
KERNEL void half_a_temporary(double* b, const double* a, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: no: the temporary of an iteration before
    if (i % 3 != 2) temporary = a[i] + 1;
    b[i] = temporary * 2;
  }
}

KERNEL void swap_arrays(double* a, double* b, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    const double t = a[i];
    a[i] = b[i];
    b[i] = t;
  }
}

KERNEL long horizontal(const struct point* p, int n) {
  STATE(long, x, 0);
  STATE(long, y, 0);
  REDUCTION(ADD, x);
  REDUCTION(ADD, y);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    x += p[i].x;
    y -= p[i].y;
  }
  return x * 3 + y;
}

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  struct point* const p = block_of(n, sizeof(struct point));
  struct point* const q = block_of(n, sizeof(struct point));
  const int* const values = some_ints(2 * n, 1, 99);
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    p[i].x = q[i].x = values[i];
    p[i].y = q[i].y = values[n + i];
    p[i].weight = q[i].weight = i;
  }
  field_to_field(p, n);
  field_to_next(p, n / 2);
  field_chain(p, n);
  printf("%ld\n", horizontal(p, n));
  whole_structures(q, p, n);
  whole_structure_chain(q, n);
  printf("%ld\n", horizontal(q, n));
  int* const words = some_ints(n, 0, 1 << 30);
  int* const out = some_ints(n, 0, 0);
  byte_of_own(words, out, n);
  show_ints("own", out, n);
  byte_of_last(words, n);
  show_ints("last", words, n);
  unsigned char* const bytes = (unsigned char*)some_ints(n, 0, 1 << 30);
  word_over_bytes(bytes, (unsigned*)out, n);
  show_ints("words", out, n);
  word_over_own_bytes(bytes, (unsigned*)out, n);
  show_ints("words", out, n);
  half_words((unsigned*)words, n);
  show_ints("halves", words, n);
  int(*const grid)[n] = (int(*)[n])some_ints(n * n, 0, 99);
  copy_row_on(n, grid);
  show_ints("rows", grid[0], n * n);
  clear_rows(n, grid);
  copy_rows(n, grid);
  show_ints("rows", grid[0], n * n);
  clear_and_copy(words, out, n);
  show_ints("cleared", words, n);
  silent_store(words, n);
  show_ints("silent", words, n);
  printf("%d\n", silent);
  double* const a = some_doubles(n, 1, 99);
  double* const b = some_doubles(n, 1, 99);
  unrolled(b, a, n);
  printf("%g\n", unrolled_sum(b, n));
  temporaries(b, a, n);
  show_doubles("temporaries", b, n);
  half_a_temporary(b, a, n);
  show_doubles("half", b, n);
  unrolled_chain(a, n);
  pairs(a, n);
  swap_arrays(a, b, n);
  show_doubles("b", b, n);
  return 0;
}
