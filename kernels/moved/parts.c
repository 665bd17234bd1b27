// Variables of which one part is set by each iteration, and another part once: by the first iteration, or before the loop.
#include <stdio.h>

enum { N = 4001 };
int a[N], b[N];
double y[N], shared[32];
struct Pair {
  int p, q;
};

__attribute__((noinline)) void member(void) {
  struct Pair t;
  for (int i = 0; i < N; i++) {  // loop: at -O0 needs \(t\)
    if (i == 0) t.q = b[5];
    t.p = a[i];
    y[i] = t.p * t.q;
  }
}

__attribute__((noinline)) void global_array(void) {
  shared[0] = a[3];
  for (int i = 0; i < N; i++) {  // loop: at -O0 needs firstprivate; at -O1 needs firstprivate; at -O2 never ^private
    for (int j = 1; j < 32; j++) shared[j] = shared[0] * j + a[i];
    y[i] = shared[31 - (i & 7)];
  }
}

__attribute__((noinline)) void local_array(int n) {
  double own[32];
  own[0] = a[3];
  for (int i = 0; i < N; i++) {  // loop: at -O0 needs firstprivate; never ^private.own
    for (int j = 1; j < 32; j++) own[j] = own[0] * j + a[i];
    y[i] = own[n - (i & 7)];
  }
}

int main(int argc, char** argv) {
  (void)argv;
  for (int i = 0; i < N; i++) a[i] = i * 7919 % 1009, b[i] = i;
  member();
  global_array();
  local_array(30 + argc);
  printf("%g\n", y[7]);
  return 0;
}
