// Uses the whole allocator: malloc, calloc, realloc, aligned_alloc, posix_memalign, every new and delete, mmap.
#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace {

struct alignas(64) Line {
  int cells[16];
};

struct Counted {
  Counted() { alive++; }
  ~Counted() { alive--; }
  static int alive;
  int value = 5;
};
int Counted::alive = 0;

bool aligned(const void* p, std::uintptr_t to) { return reinterpret_cast<std::uintptr_t>(p) % to == 0; }

long c_allocator() {
  long sum = 0;
  for (int i = 1; i <= 40; i++) {
    auto* a = static_cast<unsigned char*>(std::malloc(static_cast<std::size_t>(i) * 100));
    auto* b = static_cast<unsigned char*>(std::calloc(static_cast<std::size_t>(i), 24));
    std::memset(a, i, static_cast<std::size_t>(i) * 100);
    for (int j = 0; j < i * 24; j++) sum += b[j];
    for (int grow = 1; grow <= 4; grow++) {
      a = static_cast<unsigned char*>(std::realloc(a, static_cast<std::size_t>(i) * 100 << (2 * grow)));
      sum += a[i * 100 - 1];
    }
    a = static_cast<unsigned char*>(std::realloc(a, 10));
    sum += a[9] + (malloc_usable_size(a) >= 10);
    std::free(a);
    std::free(b);
  }
  std::free(nullptr);
  void* empty = std::malloc(0);
  sum += empty != nullptr;
  std::free(empty);
  return sum;
}

int alignments() {
  int good = 0;
  for (std::size_t to = 16; to <= 4096; to *= 2) {
    void* a = std::aligned_alloc(to, to * 3);
    void* b = nullptr;
    good += posix_memalign(&b, to, 100) == 0 && aligned(b, to) && aligned(a, to);
    void* c = memalign(to, 33);
    good += aligned(c, to);
    std::free(a);
    std::free(b);
    std::free(c);
  }
  return good;
}

int cpp_allocator() {
  int good = 0;
  auto* one = new Counted;
  auto* many = new Counted[30];
  auto* line = new Line;
  auto* lines = new Line[5];
  good += aligned(line, 64) && aligned(lines, 64);
  good += Counted::alive == 31;
  std::vector<int> grown;
  for (int i = 0; i < 1000; i++) grown.push_back(i);
  good += grown[999] == 999 && one->value + many[29].value == 10;
  delete one;
  delete[] many;
  delete line;
  delete[] lines;
  auto* quiet = new (std::nothrow) char[77];
  delete[] quiet;
  good += Counted::alive == 0;
  return good;
}

int mappings() {
  auto* p = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (p == MAP_FAILED) return -1;
  std::memset(p, 'x', 8192);
  p = static_cast<char*>(mremap(p, 8192, 1 << 20, MREMAP_MAYMOVE));
  if (p == MAP_FAILED) return -1;
  int good = p[8191] == 'x' && p[8192] == 0;
  p[(1 << 20) - 1] = 'y';
  p = static_cast<char*>(mremap(p, 1 << 20, 4096, 0));
  good += p[4095] == 'x';
  munmap(p, 4096);
  return good;
}

}  // namespace

int main() {
  long c = c_allocator();
  int a = alignments(), n = cpp_allocator(), m = mappings();
  std::printf("malloc %ld, aligned %d, new %d, mmap %d\n", c, a, n, m);
  return 0;
}
