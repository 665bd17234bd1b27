// Indices of all kinds, and variables that only look like one: counters in memory, steps that are not constant, wheels
// that turn, characters, stack space that a loop takes.
#include <alloca.h>

#include "inputs.h"

static int position;
static int stride = 2;

/// The index is a global variable.
KERNEL void global_index(int* b, const int* a, int n) {
  FOR(position = 0, position < n, position++) {  // expect: parallel
    b[position] = 3 * a[position] + 1;
  }
}

KERNEL int at_position(const int* a) { return a[position] - position; }

/// A callee looks at it.
KERNEL void global_index_in_callee(int* b, const int* a, int n) {
  // hidden: clang -O1, clang -O2: a counter in a register, and a store without a line, as of any variable that follows it
  FOR(position = 0, position < n, position++) {  // expect: parallel
    b[position] = at_position(a);
  }
}

static int found;

KERNEL void count_in_global(const int* a, int n) {
  REDUCTION(ADD, found);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    if (a[i] % 3 == 1) found++;
  }
}

KERNEL void by_parameter(int* b, const int* a, int n, int step) {
  FOR(int i = 0, i < n, i += step) {  // expect: parallel
    b[i] = a[i] * 5;
  }
}

/// The stores might change the step; they do not.
KERNEL void by_global(int* b, const int* a, int n) {
  FOR(int i = 0, i < n, i += stride) {  // expect: parallel
    b[i] = a[i] * 7;
  }
}

KERNEL void bound_in_memory(int* b, const int* a, const int* bound) {
  FOR(int i = 0, i < *bound, i++) {  // expect: parallel
    b[i] = a[i] - 4;
  }
}

KERNEL void walking_pointer(int* b, int* a, int n) {
  int* const end = a + n;
  FOR(int* p = a, p != end, (p++, b++)) {  // expect: parallel
    *b = *p + 11;
  }
}

/// Two indices that the body moves itself, in its middle.
KERNEL void moved_in_the_middle(int* b, const int* a, int n) {
  int i = 0;
  int k = 1;
  WHILE_INDEX(i < n, (i++, k += 2)) {  // expect: parallel
    const int x = a[i];
    i++;
    b[i - 1] = x * k;
    k += 2;
  }
}

KERNEL void rows_by_division(int* b, const int* a, int n, int width) {
  FOR(int k = 0, k < n, k++) {  // expect: parallel
    b[(k % width) * (n / width + 1) + k / width] = a[k];
  }
}

KERNEL void by_parity(int* b, const int* a, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    if (i & 1)
      b[i] = a[i] + 2;
    else
      b[i] = a[i] * a[i];
  }
}

KERNEL int every_third(const int* a, int n) {
  STATE(int, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    if (i % 3 == 0) s += a[i];
  }
  return s;
}

/// A function of the iteration's parity, but it is the last iteration's that is changed.
KERNEL void changing_sign(int* b, const int* a, int n) {
  STATE(int, sign, 1);
  // anew: two iterations at a time, the sign is known
  FOR(int i = 0, i < n, i++) {  // expect: no: sign
    b[i] = sign * a[i];
    sign = -sign;
  }
}

KERNEL void wheel(int* b, const int* a, int n, int size) {
  STATE(int, k, 0);
  // anew: a loop in a loop, in which k counts from 0
  FOR(int i = 0, i < n, i++) {  // expect: no: k
    b[i] = a[i] * k;
    k++;
    if (k == size) k = 0;
  }
}

KERNEL void rotate_three(int* out, int first, int second, int third, int n) {
  STATE(int, a, first);
  STATE(int, b, second);
  STATE(int, c, third);
  FOR(int i = 0, i < n, i++) {  // expect: no: a, b and c trade places
    out[i] = a;
    const int t = a;
    a = b;
    b = c;
    c = t;
  }
}

/// Doubles each time: no sum of equal steps.
KERNEL void powers(int* b, int n) {
  STATE(unsigned, power, 1);
  FOR(int i = 0, i < n, i++) {  // expect: no: power
    b[i] = (int)(power % 1000);
    power *= 3;
  }
}

/// Which numbers are crossed out decides what is crossed out; the inner step is another one each time.
KERNEL void sieve(int* crossed_by, int n) {
  FOR(int p = 2, p * p < n, p++) {  // expect: no: whether p was crossed out
    if (crossed_by[p] == 0) {
      FOR(int q = p * p, q < n, q += p) {  // expect: parallel
        crossed_by[q] = p;
      }
    }
  }
}

/// One byte is kept for the next iteration, if the compiler wants.
KERNEL void byte_pairs(unsigned char* b, const unsigned char* a, int n) {
  FOR(int i = 0, i < n - 1, i++) {  // expect: parallel
    b[i] = (unsigned char)(a[i] + 3 * a[i + 1]);
  }
}

KERNEL int changes(const char* text, int n) {
  STATE(int, count, 0);
  REDUCTION(ADD, count);
  FOR(int i = 1, i < n, i++) {  // expect: reduction(+)
    count += text[i] != text[i - 1];
  }
  return count;
}

KERNEL int changes_kept(const char* text, int n) {
  STATE(int, count, 0);
  STATE(char, last, text[0]);
  REDUCTION(ADD, count);
  FOR(int i = 1, i < n, i++) {  // expect: reduction(+)
    RELOAD(last, text[i - 1]);
    count += text[i] != last;
    last = text[i];
  }
  return count;
}

KERNEL void decode(unsigned char* text, int n) {
  FOR(int i = 1, i < n, i++) {  // expect: no: text[i - 1]
    text[i] = (unsigned char)(text[i] ^ (text[i - 1] + 1));
  }
}

KERNEL int reversed_sum(int* row, int n) {
  FOR(int j = 0, j < n / 2, j++) {  // expect: parallel
    const int t = row[j];
    row[j] = row[n - 1 - j];
    row[n - 1 - j] = t;
  }
  return row[0] * 3 - row[n - 1];
}

/// An array of another size in every iteration.
KERNEL void array_of_its_own(int* b, const int* a, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    const int size = 2 + a[i] % 5;
    int scratch[size];
    memset(scratch, 0, (size_t)size * sizeof(int));
    scratch[0] = a[i];
    scratch[size - 1] += i;
    b[i] = reversed_sum(scratch, size);
  }
}

/// Stack space that is given back only when the function returns.
KERNEL void stack_space(int* b, const int* a, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    int* const row = alloca(6 * sizeof(int));
    memset(row, 0, 6 * sizeof(int));
    row[a[i] % 6] = a[i];
    b[i] = reversed_sum(row, 6) + row[2];
  }
}

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  int* const a = some_ints(n, 1, 99);
  int* const b = some_ints(3 * n, 0, 0);
  global_index(b, a, n);
  show_ints("global", b, n);
  global_index_in_callee(b, a, n);
  show_ints("callee", b, n);
  count_in_global(a, n);
  printf("%d %d\n", found, every_third(a, n));
  by_parameter(b, a, n, 3);
  by_global(b, a, n);
  show_ints("steps", b, n);
  bound_in_memory(b, a, &n);
  walking_pointer(b, b, n);
  show_ints("walked", b, n);
  moved_in_the_middle(b, a, n);
  show_ints("moved", b, n);
  rows_by_division(b, a, n, 4);
  by_parity(b, b, n);
  show_ints("parity", b, n);
  changing_sign(b, a, n);
  show_ints("sign", b, n);
  wheel(b, a, n, 5);
  show_ints("wheel", b, n);
  rotate_three(b, 3, 8, 1, n);
  show_ints("rotated", b, n);
  powers(b, n);
  show_ints("powers", b, n);
  int* const crossed = calloc((size_t)(4 * n), sizeof(int));
  sieve(crossed, 4 * n);
  show_ints("sieve", crossed, 4 * n);
  unsigned char* const text = (unsigned char*)some_ints(n, 0, 3);
  byte_pairs(text + 2 * n, text, n);
  printf("%d %d\n", changes((char*)text, 2 * n), changes_kept((char*)text, 2 * n));
  decode(text, 3 * n);
  show_ints("text", (int*)text, n / 2);
  array_of_its_own(b, a, n);
  show_ints("arrays", b, n);
  stack_space(b, a, n);
  show_ints("space", b, n);
  printf("%d\n", reversed_sum(b, n));
  return 0;
}
