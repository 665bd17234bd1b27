// An array of structures, of which a loop wants a few fields: every access moves on by a whole structure. The loop is
// parallel, and no order of loops helps, since there is only one: what would help is another layout.
//
// The second nest moves particles in time. A step needs the one before, so time is no parallel loop; particles are free
// of each other. The loops may change places: then the inner loop goes on with one particle, and everything stays.
//
// advice: run 200 6
#include "../kernel.h"

struct particle {
  double x, y, vx, vy, mass, charge, energy, unused;
};

KERNEL void energies(int n, struct particle* p) {
  // expect-advice: tile_depth 1; skew no; parallel_ops >= 95; simd_ops >= 95; reuse <= 1; potential_reuse <= 1
  // expect-advice: interchange none; never LF-ICH; never LF-TIL; suggests LF-PAR i; stride01 0
  for (int i = 0; i < n; i++) {  // expect: parallel
    p[i].energy = 0.5 * p[i].mass * (p[i].vx * p[i].vx + p[i].vy * p[i].vy);
  }
}

KERNEL void move(int steps, int n, struct particle* p) {
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; reuse <= 1; potential_reuse >= 98; never LF-SKW
  // expect-advice: never LF-PAR t; suggests LF-PAR i; blocking V -> X distance 1; blocking X -> X distance 1
  for (int t = 0; t < steps; t++) {  // expect: no: where a particle was
    for (int i = 0; i < n; i++) {    // expect: parallel
      p[i].x += 0.1 * p[i].vx;       // X:
      p[i].vx -= 0.2 * p[i].x;       // V:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 200);
  const int steps = size_argument(argc, argv, 2, 6);
  struct particle* const p = block_of(n, sizeof(struct particle));
  for (int i = 0; i < n; i++) p[i] = (struct particle){i % 7, i % 5, 0.5, 0.25, 1 + i % 3, 0, 0, 0};
  energies(n, p);
  move(steps, n, p);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += p[i].energy + p[i].x;
  printf("%.10g\n", sum);
  return 0;
}
