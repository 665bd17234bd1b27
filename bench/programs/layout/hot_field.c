// One field of eight, STEPS times. LAYOUT: 1 in arrays of their own.
#include <stdio.h>

#ifndef N
#define N 2000
#endif
enum { COUNT = N, STEPS = 40 };
struct particle {
  unsigned long x, y, z, u, v, w, mass, charge;
};
static struct particle P[COUNT];
#if LAYOUT
static unsigned long px[COUNT];
#define X(i) px[i]
#else
#define X(i) P[i].x
#endif

int main(void) {
  for (unsigned long i = 0; i < COUNT; i++) {
    P[i].x = i;
    P[i].y = i + 1;
    P[i].z = i + 2;
    P[i].u = 1;
    P[i].v = 2;
    P[i].w = 3;
    P[i].mass = 4;
    P[i].charge = i % 3;
  }
  unsigned long field = 0;
#if LAYOUT
  for (int i = 0; i < COUNT; i++) px[i] = P[i].x;
#endif
  for (int t = 0; t < STEPS; t++)    // t
    for (int i = 0; i < COUNT; i++)  // i
      field = (field + X(i)) ^ 5;
  for (int i = 0; i < COUNT; i++) field += P[i].y + P[i].z + P[i].u + P[i].v + P[i].w + P[i].mass + P[i].charge;
  printf("%lu\n", field);
  return 0;
}
