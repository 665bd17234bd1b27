// One field of eight is used in the loop that counts: each in an array of its own, lines are full of what is needed.
// search: --cores 1
// expect-layout: region push layouts "P\[2000\] of structures of 64 bytes with one array per field"
// expect-layout: region push conclusion "change the layout"
#include <stdio.h>

enum { COUNT = 2000, STEPS = 60 };
struct particle {
  double x, y, z, u, v, w, mass, charge;
};
static struct particle P[COUNT];

int main(void) {
  for (int i = 0; i < COUNT; i++) {
    P[i].x = i;
    P[i].y = i + 1;
    P[i].z = i + 2;
    P[i].u = 1;
    P[i].v = 2;
    P[i].w = 3;
    P[i].mass = 4;
    P[i].charge = i % 3;
  }
  double field = 0;
  for (int t = 0; t < STEPS; t++)  // region push
    for (int i = 0; i < COUNT; i++) field = field * 0.5 + P[i].x;
  for (int i = 0; i < COUNT; i++)
    field += P[i].y + P[i].z + P[i].u + P[i].v + P[i].w + P[i].mass + P[i].charge;
  printf("%g\n", field);
  return 0;
}
