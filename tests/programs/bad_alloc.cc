// Asks operator new for more than there is, and catches std::bad_alloc; nothrow new returns null.
#include <cstdint>
#include <cstdio>
#include <new>

int main() {
  volatile std::size_t huge = static_cast<std::size_t>(PTRDIFF_MAX) - 4096;
  int caught = 0;
  for (int i = 0; i < 5; i++) {
    try {
      char* p = static_cast<char*>(::operator new(huge));
      std::printf("got %p\n", static_cast<void*>(p));
    } catch (const std::bad_alloc&) {
      caught++;
    }
  }
  void* none = ::operator new(huge, std::nothrow);
  std::printf("caught %d, nothrow %s\n", caught, none == nullptr ? "null" : "not null");
  return 0;
}
