// Lets an exception leave main: std::terminate writes to stderr and aborts.
#include <stdexcept>

int main(int argc, char**) {
  if (argc > 0) throw std::runtime_error("nobody catches this");
  return 0;
}
