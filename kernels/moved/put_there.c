// An inner loop that does not run in every iteration puts there what was before the outer one: the iterations in
// between find what an earlier one has put there.
#include <stdio.h>

enum { N = 43 };
int a[N], b[N], c[16 * N];

__attribute__((noinline)) void at_times(int value, int kept, int phase) {
  for (int i = 0; i < N; i++) {  // loop: verdict no
    for (int k = 0; k < (i + phase) % 4 - 1; k++) kept = value;
    b[i] = a[i] + kept;
  }
}

/// Always, but not as often: two values change places.
__attribute__((noinline)) void as_often_as_not(int one, int other, int phase) {
  for (int i = 0; i < N; i++) {  // loop: verdict no
    for (int k = 0; k < (i + phase) % 2 + 1; k++) {
      int kept = one;
      one = other;
      other = kept;
    }
    b[i] = a[i] * one;
  }
}

/// The first iteration leaves its loop before the use.
__attribute__((noinline)) void left_before_use(int value, int kept, int phase) {
  for (int i = 0; i < N; i++) {  // loop: at -O0 verdict no; at -O1 verdict no
    for (int k = 0; k < 2; k++) {
      b[i] += k + 1;
      if ((i + phase) % 3 == 0) break;
      a[i] += kept;
    }
    kept = value;
  }
}

/// Some iterations leave their loop before they put it there.
__attribute__((noinline)) void left_before_copy(int value, int kept, int phase) {
  for (int i = 0; i < N; i++) {  // loop: verdict no
    for (int k = 0; k < 1; k++) {
      b[i] += k + 1;
      if ((i + phase) % 3 == 0) break;
      kept = value;
    }
    a[i] += kept;
  }
}

__attribute__((noinline)) unsigned mixed(unsigned x, unsigned y) { return (x ^ y >> 3) * 2654435761u; }

__attribute__((noinline)) unsigned busy(unsigned x, unsigned y, unsigned z) {
  const unsigned one = mixed(x, y);
  const unsigned other = mixed(y, z);
  return one * x + other + mixed(z, x);
}

/// Between the iterations a callee saves and restores the registers in which they change places.
__attribute__((noinline)) void around_a_call(int one, int other) {
  for (int i = 1; i < N; i += 2) {  // loop: verdict no
    for (int j = i; j < N; j++)
      for (int k = 0; k < 7; k++) {
        c[16 * j + k] = one;
        int kept = one;
        one = other;
        other = kept;
      }
    a[i] = (int)busy((unsigned)a[i], (unsigned)i, 7);
  }
}

int main(void) {
  for (int i = 0; i < N; i++) a[i] = i * 7 % 11;
  at_times(7, 3, 3);
  int sum = b[4];
  as_often_as_not(2, 5, 3);
  around_a_call(11, 12);
  left_before_use(3, 4, 3);
  left_before_copy(8, 9, 4);
  printf("%d %d %d\n", sum, b[9] + c[20], a[5]);
  return 0;
}
