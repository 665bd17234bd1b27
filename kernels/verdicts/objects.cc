// C++: virtual functions, vectors, lambdas that accumulate, exceptions that end a loop.
#include <cstddef>
#include <new>
#include <stdexcept>
#include <vector>

#include "inputs.h"

#ifdef REALITY
// Blocks must be where they are seen.
void* operator new(std::size_t size) { return malloc(size); }
void operator delete(void* block) noexcept { free(block); }
void operator delete(void* block, std::size_t) noexcept { free(block); }
#endif

namespace {

class Shape {
 public:
  virtual ~Shape() = default;
  virtual int area() const = 0;
  virtual void grow(int by) = 0;
};

class Square final : public Shape {
 public:
  explicit Square(int side) : side_(side) {}
  int area() const override { return side_ * side_; }
  void grow(int by) override { side_ += by; }

 private:
  int side_;
};

class Strip final : public Shape {
 public:
  explicit Strip(int length) : length_(length) {}
  int area() const override { return 2 * length_; }
  void grow(int by) override { length_ *= by; }

 private:
  int length_;
};

KERNEL void make_shapes(Shape** shapes, const int* sizes, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    if (sizes[i] % 2 == 0)
      shapes[i] = new Square(sizes[i]);
    else
      shapes[i] = new Strip(sizes[i]);
  }
}

KERNEL void grow_shapes(Shape* const* shapes, const int* by, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    shapes[i]->grow(by[i] % 5 + 2);
  }
}

KERNEL int total_area(Shape* const* shapes, int n) {
  STATE(int, total, 0);
  REDUCTION(ADD, total);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    total += shapes[i]->area();
  }
  return total;
}

/// All pointers lead to one object.
KERNEL void grow_one(Shape* const* shapes, const int* by, int n) {
  Shape* const one = shapes[0];
  FOR(int i = 0, i < n, i++) {  // expect: no: the same object each time
    one->grow(by[i] % 3 + 1);
    one->grow(one->area() % 7);
  }
}

KERNEL void append(std::vector<int>& kept, const int* a, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: no: the end of the vector
    kept.push_back(a[i] * 3);
  }
}

KERNEL void fill_vector(std::vector<int>& to, const std::vector<int>& from) {
  FOR(std::size_t i = 0, i < from.size(), i++) {  // expect: parallel
    to[i] = from[from.size() - 1 - i] + 1;
  }
}

KERNEL double lambda_sum(const double* a, int n) {
  STATE(double, sum, 0);
  const auto add = [&](double x) { sum += x; };
  REDUCTION(ADD, sum);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    add(a[i]);
  }
  return sum;
}

/// A vector of its own for every iteration.
KERNEL void scratch_vector(int* b, const int* a, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    std::vector<int> scratch(4, a[i]);
    scratch[1] = i;
    scratch[3] -= scratch[1];
    b[i] = scratch[3] * scratch[0];
  }
}

KERNEL void check_below(int x, int limit) {
  if (x > limit) throw std::runtime_error("above");
}

KERNEL int until_thrown(int* b, const int* a, int n, int limit) {
  STATE(int, count, 0);
  try {
    FOR(int i = 0, i < n, i++) {  // expect: no: left by an exception
      b[i] = a[i];
      count = i + 1;
      check_below(a[i], limit);
    }
  } catch (const std::runtime_error&) {
    return -count;
  }
  return count;
}

/// The exception is possible, but this run never throws it.
KERNEL int never_thrown(int* b, const int* a, int n, int limit) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    check_below(a[i], limit);
    b[i] = a[i] - limit;
  }
  return b[n - 1];
}

}  // namespace

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  int* const a = some_ints(n, 1, 99);
  int* const b = some_ints(n, 0, 0);
  Shape** const shapes = (Shape**)block_of(n, sizeof(Shape*));
  make_shapes(shapes, a, n);
  grow_shapes(shapes, a, n);
  printf("%d\n", total_area(shapes, n));
  grow_one(shapes, a, n);
  printf("%d\n", shapes[0]->area());
  std::vector<int> kept;
  append(kept, a, n);
  std::vector<int> copied(kept.size());
  fill_vector(copied, kept);
  show_ints("copied", copied.data(), n);
  printf("%g\n", lambda_sum(some_doubles(n, 1, 99), n));
  scratch_vector(b, a, n);
  show_ints("scratch", b, n);
  a[n / 2] = 200;
  printf("%d\n", until_thrown(b, a, n, 150));
  printf("%d\n", never_thrown(b, a, n, 1000));
  show_ints("checked", b, n);
  return 0;
}
