// C++ whose loops are in templates, lambdas and inlined functions: a class template, range-for, std::sort, std::map.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace numbers {

template <typename T>
class Matrix {
 public:
  explicit Matrix(std::size_t size) : size_(size), cells_(size * size) {}
  std::size_t size() const { return size_; }
  T& operator()(std::size_t i, std::size_t j) { return cells_[i * size_ + j]; }
  const T& operator()(std::size_t i, std::size_t j) const { return cells_[i * size_ + j]; }

 private:
  std::size_t size_;
  std::vector<T> cells_;
};

template <typename T>
__attribute__((noinline)) Matrix<T> operator*(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c(a.size());
  for (std::size_t i = 0; i < a.size(); i++) {    // @product_i
    for (std::size_t j = 0; j < a.size(); j++) {  // @product_j
      T sum{};
      for (std::size_t k = 0; k < a.size(); k++) sum += a(i, k) * b(k, j);  // @hot
      c(i, j) = sum;
    }
  }
  return c;
}

// Inlined into its caller: the loop's line is here.
static inline long total(const std::vector<long>& values) {
  long sum = 0;
  for (long value : values) sum = sum * 3 ^ value;  // @range
  return sum;
}

struct Counter {
  std::map<long, int> counts;
  __attribute__((noinline)) long count(const std::vector<long>& values) {
    for (long value : values) counts[value % 37]++;  // @count
    long sum = 0;
    for (const auto& [key, count] : counts) sum += key * count;  // @map
    return sum;
  }
};

}  // namespace numbers

int main(int argc, char**) {
  const std::size_t n = 40 + static_cast<std::size_t>(argc);
  numbers::Matrix<double> a(n), b(n);
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t j = 0; j < n; j++) {
      a(i, j) = static_cast<double>(i + j);
      b(i, j) = static_cast<double>(i) - static_cast<double>(j);
    }
  }
  const numbers::Matrix<double> c = a * b;
  std::vector<long> values(500);
  for (std::size_t i = 0; i < values.size(); i++) values[i] = static_cast<long>(i * 7919 % 1009);  // @fill
  std::sort(values.begin(), values.end(),
            [](long x, long y) { return x % 100 < y % 100 || (x % 100 == y % 100 && x < y); });
  numbers::Counter counter;
  std::printf("%ld %ld %ld\n", static_cast<long>(c(n - 1, 3)), numbers::total(values), counter.count(values));
}
