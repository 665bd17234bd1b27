// What a clause can name: no counter that a loop declares itself, whoever saves the register that it was in; nothing of a
// function that is inlined into the loop; a static variable by its own name.
#include <stdio.h>

enum { N = 120 };
static double a[N][N], b[N][N];
static char text[N][16];

static inline void turn(double* row, double factor) {
  double t[4];
  for (int k = 0; k < N; k += 4) {
    for (int l = 0; l < 4; l++) t[l] = row[k + l] * factor;
    for (int l = 0; l < 4; l++) row[k + l] = t[3 - l];
  }
}

/// An array of its own, in a place of the caller's frame that another one uses later.
static inline void mirrored(double* row) {
  double t[N];
  for (int k = 0; k < N; k++) t[k] = row[N - 1 - k] * 2;
  for (int k = 0; k < N; k++) row[k] = t[k] + k;
}
__attribute__((noinline)) void fill(double* all, int n) {
  for (int k = 0; k < n; k++) all[k] = k;
}
__attribute__((noinline)) static double in_turns(void) {
  for (int i = 0; i < N; i++)  // loop: never \((late|row|t|k)\)
    mirrored(a[i]);
  double x = 0;
  {
    double late[N + 8];
    fill(late, N + 8);
    x = late[7];
  }
  return x + a[3][5];
}

__attribute__((noinline)) static double through_static(void) {
  static double kept[N];
  static int bins[16];
  for (int i = 0; i < N; i++) {  // loop: needs private\(kept\)
    for (int j = 0; j < N; j++) kept[j] = b[i][j] * 2;
    for (int j = 0; j < N; j++) a[i][j] = kept[N - 1 - j] + kept[j];
  }
  for (int i = 0; i < N; i++) bins[(int)a[i][3] & 15]++;
  return a[3][4] + bins[3];
}

int main(void) {
  for (int i = 0; i < N; i++)  // loop: never \(i\)
    for (int j = 0; j < N; j++) b[i][j] = (i * 7 + j * 3) % 11;
  double x = through_static() + in_turns();
  for (int i = 0; i < N; i++)  // loop: never \(i\)
    sprintf(text[i], "%d", i * i);
  for (int i = 0; i < N; i++)  // loop: never \((i|row|factor|t|k|l)\)
    turn(a[i], 1.5);
  for (int i = 0; i < N; i++)  // loop: never \(i\)
    for (int j = 0; j < N; j++) x += a[i][j] * (i + 1);
  printf("%f %s\n", x, text[7]);
  return 0;
}
