// Variables that share a place in the frame: the array of a function that is inlined into a loop, and an object that is
// made behind the loop. The debug information has the object there all the time, in all of the function.
#include <cstdio>
#include <map>
#include <vector>

struct Body {
  double x[3], f[3], mass;
};

static void pull(Body& a, Body& b) {
  double d[3], square = 1e-3;
  for (int k = 0; k < 3; k++) {
    d[k] = b.x[k] - a.x[k];
    square += d[k] * d[k];
  }
  const double s = a.mass * b.mass / square;
  for (int k = 0; k < 3; k++) {
    a.f[k] += s * d[k];
    b.f[k] -= s * d[k];
  }
}

static void all_pull(std::vector<Body>& bodies) {
  for (std::size_t i = 0; i < bodies.size(); i++)  // loop: never \((found|a|b|d|s|square)\)
    for (std::size_t j = i + 1; j < bodies.size(); j++) pull(bodies[i], bodies[j]);
}

int main() {
  std::vector<Body> bodies(40);
  for (std::size_t i = 0; i < bodies.size(); i++) {
    bodies[i].mass = 1 + double(i % 3);
    for (int k = 0; k < 3; k++) bodies[i].x[k] = double((i * 7 + std::size_t(k) * 5) % 11);
  }
  for (int t = 0; t < 4; t++) all_pull(bodies);
  std::map<int, int> found;
  for (int i = 0; i < 500; i++) found[i * 7919 % 101]++;
  std::printf("%g %d\n", bodies[3].f[1], found[5]);
  return 0;
}
