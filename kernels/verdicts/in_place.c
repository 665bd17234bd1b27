// Updates of an array from itself: which direction the values travel in decides.
#include "inputs.h"

/// Reads what is written later: the old value, whoever goes first on its own copy.
KERNEL void shift_down(int* a, int n) {
  FOR(int i = 0, i < n - 1, i++) {  // expect: parallel
    a[i] = a[i + 1];
  }
}

KERNEL void shift_up(int* a, int n) {
  // anew: all become the first one, which need not be carried
  FOR(int i = 0, i < n - 1, i++) {  // expect: no: a[i] of the last iteration
    a[i + 1] = a[i];
  }
}

/// From the end, the directions trade places.
KERNEL void shift_up_backwards(int* a, int n) {
  FOR(int i = n - 1, i > 0, i--) {  // expect: parallel
    a[i] = a[i - 1];
  }
}

KERNEL void shift_down_backwards(int* a, int n) {
  // anew: the last one plus how many there are after it
  FOR(int i = n - 1, i > 0, i--) {  // expect: no: a[i] of the last iteration
    a[i - 1] = a[i] + 1;
  }
}

KERNEL void shift_far(int* a, int n, int distance) {
  FOR(int i = 0, i < n - distance, i++) {  // expect: no: distance iterations ago
    a[i + distance] = a[i] + 1;
  }
}

/// The distance is as long as the loop: nothing written is read.
KERNEL void copy_half(int* a, int n) {
  const int half = n / 2;
  FOR(int i = 0, i < half, i++) {  // expect: parallel
    a[i + half] = 3 * a[i];
  }
}

KERNEL void doubled_subscript(int* a, int n) {
  FOR(int i = 1, 2 * i < n, i++) {  // expect: no: a[2 * i] is read in iteration 2 * i
    a[2 * i] = a[i] + i;
  }
}

/// The second half reads what the first half wrote.
KERNEL void mirrored(int* a, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: no: a[n - 1 - i], in the second half
    a[i] = a[n - 1 - i] + 1;
  }
}

KERNEL void reversed(int* a, int n) {
  FOR(int i = 0, i < n / 2, i++) {  // expect: parallel
    const int t = a[i];
    a[i] = a[n - 1 - i];
    a[n - 1 - i] = t;
  }
}

KERNEL void even_from_odd(int* a, int n) {
  FOR(int i = 0, i + 3 < n, i += 2) {  // expect: parallel
    a[i] = a[i + 1] + a[i + 3];
  }
}

KERNEL void fibonacci(unsigned* a, int n) {
  FOR(int i = 2, i < n, i++) {  // expect: no: both before
    a[i] = a[i - 1] + a[i - 2];
  }
}

/// p and q are the same array, one element apart.
KERNEL void aliased(int* p, const int* q, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: no: p is q + 1
    p[i] = q[i] + 1;
  }
}

KERNEL void not_aliased(int* p, const int* q, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    p[i] = q[i] + 1;
  }
}

/// p starts one element before q: an element is read before it is written.
KERNEL void aliased_ahead(int* p, const int* q, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    p[i] = q[i] + 1;
  }
}

/// The neighbours of a pass are swapped where needed; a swapped one may travel on.
KERNEL void bubble(int* a, int n) {
  FOR(int i = 0, i < n - 1, i++) {  // expect: no: a[i] was a[i + 1]
    if (a[i] > a[i + 1]) {
      const int t = a[i];
      a[i] = a[i + 1];
      a[i + 1] = t;
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  int* const a = some_ints(n + 1, 0, 999);
  int* const b = some_ints(n + 1, 0, 999);
  shift_down(a, n);
  shift_up_backwards(a, n);
  shift_far(a, n, 3);
  doubled_subscript(a, n);
  reversed(a, n);
  even_from_odd(a, n);
  mirrored(a, n);
  show_ints("a", a, n);
  not_aliased(b, a, n);
  aliased_ahead(b, b + 1, n);
  copy_half(b, n);
  shift_down_backwards(b, n / 2);
  shift_up(b, 5);
  aliased(b + 1, b, n);
  show_ints("b", b, n);
  int* const c = some_ints(n, 0, 999);
  bubble(c, n);
  show_ints("c", c, n);
  int* const f = some_ints(n, 1, 5);
  fibonacci((unsigned*)f, n);
  show_ints("f", f, n);
  return 0;
}
