// An array of structures of which a loop uses one field, and changes another: both become arrays of their own.
//
// map: { particles_mass[e] -> [0, e] } { particles_at_x[e] -> [1, e] }
#include "data.h"

struct point {
  double x, y, z;
};
struct particle {
  struct point at;
  float mass;
  char name[20];
};

static double push(unsigned count, struct particle* particles) {
  double energy = 0;
#pragma layout map(in: particles.mass(e) -> (0, e) : float[count]) map(inout: particles.at.x(e) -> (1, e) : double[count])
  for (unsigned i = 0; i < count; i++) {
    particles[i].at.x += 0.125 * particles[i].mass;
    particles[i].at.y = 1;
    energy += particles[i].mass * particles[i].at.x;
  }
  return energy;
}

int main(int argc, char** argv) {
  const unsigned n = (unsigned)size_from(argc, argv, 1, 300);
  struct particle* const all = calloc(n, sizeof *all);
  for (unsigned i = 0; i < n; i++) all[i].at.x = number(i), all[i].mass = (float)number(3l * i);
  const double energy = push(n, all);
  print_bits("energy", &energy, sizeof energy);
  print_bits("all", all, n * sizeof *all);
  free(all);
  return 0;
}
