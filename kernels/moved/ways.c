// A counter that each way through the body steps for itself: compilers put the end of a body on every way where they know
// what comes next. Some ways are those of one row, of one column or of the diagonal.
#include <stdio.h>
#include <stdlib.h>

enum { N = 40, M = 1000 };
double in[N][N], out[N][N];
int a[M], b[M], c[M], rows[N][20], late[M], early[M], best[2][M], weight[8] = {3, 17, 8, 40, 1, 25, 12, 6};

__attribute__((noinline)) void diagonal(int n) {
  for (int i = 0; i < n; i++)                               // loop: verdict yes
    for (int j = 0; j < n; j++)                             // loop: verdict yes
      in[i][j] = (i == j) ? n : 1.0 / (1 + abs(i - j));
}

__attribute__((noinline)) void corners(double w) {
  for (int i = 0; i < N; i++)                               // loop: verdict yes
    for (int j = 0; j < N; j++) {                           // loop: verdict yes
      double d;
      if (i == 0 && j == 0) d = in[0][1] + in[1][0] - 2 * in[0][0];
      else if (i == 0 && j == N - 1) d = in[0][N - 2] + in[1][N - 1] - 2 * in[0][N - 1];
      else if (i == 0) d = in[0][j - 1] + in[0][j + 1] + in[1][j] - 3 * in[0][j];
      else if (i == N - 1) d = in[i - 1][j] - in[i][j];
      else if (j == 0) d = in[i][1] - in[i][0];
      else if (j == N - 1) d = in[i][j - 1] - in[i][j];
      else d = in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1] - 4 * in[i][j];
      out[i][j] = in[i][j] + w * d;
    }
}

__attribute__((noinline)) void pack(int item, int now) {
  for (int w = 0; w < M; w++) {                             // loop: verdict yes
    int with = best[now][w];
    if (w >= weight[item]) {
      int without = best[now][w - weight[item]] + item;
      if (without > with) with = without;
    }
    best[1 - now][w] = with;
  }
}

__attribute__((noinline)) int both(int k) {
  for (int i = 0; i < M; i++) {                             // loop: at -O1 verdict yes; at -O2 verdict yes; at -O3 verdict yes
    if (a[i] > 500) { b[i] = k - a[i]; k += 3; } else { c[i] = k; k += 3; }
  }
  return k;
}

// What decides here is data: no way to tell k without the iterations before.
__attribute__((noinline)) int some(int k) {
  for (int i = 0; i < M; i++) {                             // loop: verdict no unknown
    if (a[i] > 500) { b[i] = k - a[i]; k += 3; } else { c[i] = k; k += 2; }
  }
  return k;
}

__attribute__((noinline)) int squeeze(int k) {
  for (int i = 0; i < M; i++) {                             // loop: verdict no unknown
    b[k] = a[i];
    if (a[i] > 300) k++;
  }
  return k;
}

// What is kept under a condition is kept for later iterations.
__attribute__((noinline)) int keeps(int t) {
  for (int i = 0; i < M; i++) {                             // loop: verdict no unknown
    if (a[i] > 500) t = a[i];
    b[i] = t;
  }
  return t;
}

// All iterations of some entries step it, none of the others.
__attribute__((noinline)) int by_row(int k) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 20; j++) {                          // loop: verdict no unknown
      out[i][j] += k;
      if (rows[i][j] > 0) k++;
    }
  return k;
}

// Data say from which iteration on it is stepped; or up to which one, of which nobody in the loop takes notice.
__attribute__((noinline)) int from_somewhere(int k) {
  for (int i = 0; i < M; i++)                               // loop: verdict no unknown
    switch (late[i]) {
      case 0: b[i] = k; break;
      case 1: b[i] = k; c[i] = a[i]; k++; break;
      case 2: b[i] = k * 3; k++; break;
      case 3: b[i] = k ^ 4; k++; c[i] = 1; break;
      case 4: b[i] = k - c[i]; k++; break;
      default: b[i] = 1;
    }
  return k;
}

__attribute__((noinline)) int up_to_somewhere(int k) {
  for (int i = 0; i < M; i++)                               // loop: verdict no unknown
    if (early[i] < 300) {
      if (a[i] & 4) { b[i] = k - a[i]; k += 3; } else { c[i] = k; k += 3; }
    }
  return k;
}

// Twice on one way.
__attribute__((noinline)) int twice(int k) {
  for (int i = 0; i < M; i++) {                             // loop: verdict no unknown
    if (a[i] > 900) { b[i] = k; k++; c[i] = b[i / 2]; }
    c[i] ^= k;
    k++;
  }
  return k;
}

__attribute__((noinline)) int merged(void) {
  int i = 0, j = 0;
  for (int k = 0; k < 500; k++) {                           // loop: verdict no unknown
    if (a[i] < b[j]) c[k] = a[i++]; else c[k] = b[j++];
  }
  return i - j;
}

int main(void) {
  for (int i = 0; i < M; i++) a[i] = (i * 7919) % 997;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 20; j++) rows[i][j] = a[i] > 400 ? j + 1 : -j;
  for (int i = 0; i < M; i++) late[i] = i < 200 ? 0 : 1 + a[i] % 4, early[i] = i;
  diagonal(N);
  corners(.2);
  for (int item = 0; item < 8; item++) pack(item, item & 1);
  int n = both(5) + some(7);
  n += squeeze(0) + keeps(-5) + from_somewhere(3) + up_to_somewhere(4) + by_row(1) + twice(2) + merged();
  double s = 0;
  unsigned h = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) s += in[i][j] + out[i][j];
  for (int i = 0; i < M; i++) h = h * 31 + (unsigned)(b[i] ^ c[i] ^ best[0][i]);
  printf("%g %u %d\n", s, h, n);
  return 0;
}
