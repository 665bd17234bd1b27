// Throws C++ exceptions through three frames with destructors, in a loop; catches, rethrows and nests them.
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

int destroyed = 0;

struct Guard {
  ~Guard() { destroyed++; }
};

__attribute__((noinline)) int inner(int i) {
  Guard guard;
  if (i % 3 == 0) throw std::runtime_error("inner " + std::to_string(i));
  if (i % 3 == 1) throw i;
  return i * 2;
}

__attribute__((noinline)) int middle(int i) {
  Guard guard;
  try {
    return inner(i) + 1;
  } catch (const std::exception&) {
    throw;
  }
}

__attribute__((noinline)) int outer(int i) {
  Guard guard;
  int result = middle(i);
  return result + 1;
}

}  // namespace

int main() {
  long values = 0, integers = 0, errors = 0;
  for (int i = 0; i < 30; i++) {
    try {
      values += outer(i);
    } catch (int value) {
      integers += value;
    } catch (const std::exception& error) {
      errors += static_cast<long>(std::string(error.what()).size());
    }
  }
  try {
    try {
      outer(0);
    } catch (...) {
      std::throw_with_nested(std::logic_error("nested"));
    }
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  }
  std::printf("values %ld, integers %ld, errors %ld, destroyed %d\n", values, integers, errors, destroyed);
  return 0;
}
