// Values from before the loop that are put aside for an inner loop and brought back: they are where they were. And values
// that really go round.
#include <stdio.h>

enum { C = 4, O = 6, H = 14, K = 3, B = 8 };
float in[C * H * H], weight[O * C * K * K], out[O * (H - 2) * (H - 2)], bias[O];
double a[48][48];
int round_about[3][200];

__attribute__((noinline)) void layer(void) {
  for (int o = 0; o < O; o++)                  // loop: verdict yes unknown
    for (int y = 0; y < H - 2; y++)            // loop: at -O0 verdict yes; at -O1 verdict yes; at -O2 verdict yes
      for (int x = 0; x < H - 2; x++) {        // loop: verdict yes unknown
        float sum = bias[o];
        for (int c = 0; c < C; c++)
          for (int ky = 0; ky < K; ky++)
            for (int kx = 0; kx < K; kx++)
              sum += in[(c * H + y + ky) * H + x + kx] * weight[((o * C + c) * K + ky) * K + kx];
        out[(o * (H - 2) + y) * (H - 2) + x] = sum > 0 ? sum : 0;
      }
}

__attribute__((noinline)) void rows(int o, int c) {
  for (int i = 0; i < B; i++)                  // loop: at -O0 verdict yes; at -O1 verdict yes; at -O2 verdict yes
    for (int k = 0; k < B; k++) {              // loop: verdict no unknown
      a[c + i][o + k] /= a[o + k][o + k];
      for (int j = k + 1; j < B; j++) a[c + i][o + j] -= a[c + i][o + k] * a[o + k][o + j];
    }
}

__attribute__((noinline)) void turns(int n) {
  int *p = round_about[0], *q = round_about[1], *r = round_about[2];
  for (int t = 0; t < n; t++) {                // loop: verdict no
    for (int i = 1; i < 199; i++) q[i] = p[i - 1] + p[i + 1] - r[i];
    int* first = p;
    p = q;
    q = r;
    r = first;
  }
}

int main(void) {
  for (int i = 0; i < C * H * H; i++) in[i] = (float)(i % 17) * .25f;
  for (int i = 0; i < O * C * K * K; i++) weight[i] = (float)(i % 7) - 3;
  for (int i = 0; i < O; i++) bias[i] = (float)i;
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 48; j++) a[i][j] = i == j ? 50 : 1.0 / (1 + i + j);
  for (int i = 0; i < 200; i++) round_about[0][i] = round_about[1][i] = i % 5;
  layer();
  for (int c = B; c < 48; c += B) rows(0, c);
  turns(20);
  double s = 0;
  for (int i = 0; i < 48; i++) s += a[i][i / 2] + out[i * 7] + round_about[i % 3][i];
  printf("%g\n", s);
  return 0;
}
