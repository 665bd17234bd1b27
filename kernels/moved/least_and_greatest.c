// The least and the greatest element, found by comparing and storing: each goes by its own name, whatever else the line
// computes, and needs no copy for each iteration.
#include <stdio.h>

enum { N = 3001 };
int x[N];
double y[N];
int lowest, highest;

int main(void) {
  int least = 1 << 30, most = -1;
  double down = 1e9, up = -1e9;
  for (int i = 0; i < N; i++) {
    x[i] = (i * 7919 + 500) % 997;
    y[i] = x[i] * .5;
  }
  for (int i = 0; i < N; i++) {  // loop: at -O0 verdict reduction; at -O0 needs min:least; never max:least; never ^least
    if (x[i] < least) least = x[i];
  }
  for (int i = 0; i < N; i++) {  // loop: at -O0 verdict reduction; at -O0 needs max:most; never min:most; never ^most
    if (x[i] > most) most = x[i];
  }
  for (int i = 0; i < N; i++) { if (y[i] < down) down = y[i]; if (y[i] > up) up = y[i]; }  // loop: at -O0 verdict reduction; at -O0 needs min:down; at -O0 needs max:up; never max:down; never min:up
  lowest = 1 << 30;
  highest = -1;
  for (int i = 0; i < N; i++) { if (x[i] < lowest) lowest = x[i]; if (highest < x[i]) highest = x[i]; }  // loop: at -O0 needs min:lowest; at -O0 needs max:highest; never max:lowest; never min:highest
  printf("%d %d %g %g %d %d\n", least, most, down, up, lowest, highest);
  return 0;
}
