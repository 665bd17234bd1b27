// An inner loop that does not run in every iteration puts there what was before the outer one: the iterations in
// between find what an earlier one has put there.
#include <stdio.h>

enum { N = 43 };
int a[N], b[N];

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

int main(void) {
  for (int i = 0; i < N; i++) a[i] = i * 7 % 11;
  at_times(7, 3, 3);
  int sum = b[4];
  as_often_as_not(2, 5, 3);
  printf("%d %d\n", sum, b[9]);
  return 0;
}
