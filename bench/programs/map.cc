// A std::map with many insertions and look-ups: pointers, allocation, no regularity.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

int main(int argc, char** argv) {
  const unsigned n = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 150000;
  std::map<unsigned, std::string> map;
  unsigned seed = 1;
  for (unsigned i = 0; i < n; i++) {
    seed = seed * 1103515245u + 12345u;
    map[seed % (2 * n)] += static_cast<char>('a' + seed % 26);
  }
  unsigned long sum = 0;
  for (unsigned i = 0; i < 2 * n; i++) {
    const auto found = map.find(i);
    if (found != map.end()) sum += found->second.size() * i;
  }
  std::printf("%lu\n", sum);
  return 0;
}
