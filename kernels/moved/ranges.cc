// Loops over ranges: the element is declared by each iteration, and the compiler's counter is nobody's variable.
#include <cstdio>
#include <vector>

struct Particle {
  double x, v, q;
};

__attribute__((noinline)) void push(std::vector<Particle>& all, const std::vector<double>& field) {
  for (Particle& p : all) {  // loop: verdict yes; never __for; never \bp\b
    const double force = field[static_cast<unsigned>(p.x) % field.size()];
    p.v += 0.01 * force * p.q;
    p.x += 0.01 * p.v;
  }
}

__attribute__((noinline)) double sums(const std::vector<int>& counts, std::vector<double>& out) {
  double all = 0;
  unsigned at = 0;
  for (int count : counts) {  // loop: verdict reduction; never __for; never count
    for (int k = 0; k < 5; k++) count += k;
    out[at++] = count;
    all += count;
  }
  return all;
}

int main() {
  std::vector<Particle> all(200);
  std::vector<double> field(16), out(200);
  std::vector<int> counts(200);
  for (unsigned i = 0; i < all.size(); i++) {
    all[i] = {i * 0.3, 0.1, 1.0 + i % 2};
    counts[i] = static_cast<int>(i % 7);
    field[i % 16] = i * 0.25;
  }
  push(all, field);
  std::printf("%g %g\n", all[7].x, sums(counts, out));
}
