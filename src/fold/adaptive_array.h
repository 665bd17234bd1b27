// Arrays that need no memory of their own.
//
// SmallArray: its size is known when it is made; a short one is inside of the object, so that what belongs to a stream
// lies together in memory. There are many streams, and the next point is rarely of the one before: what following them
// costs is mostly the wait for memory.
//
// FewNumbers: one number per dimension, of which there are not many, in functions that are made and thrown away.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace loopfold::fold::adaptive {

template <typename T, std::size_t kShort>
class SmallArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallArray() = default;
  /// All elements are as T{} makes them.
  explicit SmallArray(std::size_t size) : size_(size) {
    if (size > kShort) far_ = std::make_unique<T[]>(size);
  }
  /// What the elements are then is not said.
  void set_size(std::size_t size) {
    if (size > kShort && size > size_) far_ = std::make_unique<T[]>(size);
    size_ = size;
  }
  T* data() { return data(size_); }
  /// The same; `size`, which is that of the array, may be a constant.
  T* data(std::size_t size) { return size > kShort ? far_.get() : near_; }
  const T* data() const { return size_ > kShort ? far_.get() : near_; }
  std::size_t size() const { return size_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  friend bool operator==(const SmallArray& a, const SmallArray& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  /// Beyond the object itself.
  std::size_t bytes() const { return far_ ? sizeof(T) * size_ : 0; }

 private:
  T near_[kShort] = {};  // at first, close to what stands before the array
  std::size_t size_ = 0;
  std::unique_ptr<T[]> far_;
};

/// f(0), f(1) ... f(n - 1); not as a loop if n is a small constant.
template <typename F>
[[gnu::always_inline]] inline void for_all(std::size_t n, const F& f) {
  if (__builtin_constant_p(n) && n <= 7) {
    if (n > 0) f(0);
    if (n > 1) f(1);
    if (n > 2) f(2);
    if (n > 3) f(3);
    if (n > 4) f(4);
    if (n > 5) f(5);
    if (n > 6) f(6);
    return;
  }
  for (std::size_t i = 0; i < n; ++i) f(i);
}

/// The first of 0 .. n - 1 for which f is true; n if there is none. Not as a loop if n is a small constant.
template <typename F>
[[gnu::always_inline]] inline std::size_t first_where(std::size_t n, const F& f) {
  if (__builtin_constant_p(n) && n <= 7) {
    if (n > 0 && f(0)) return 0;
    if (n > 1 && f(1)) return 1;
    if (n > 2 && f(2)) return 2;
    if (n > 3 && f(3)) return 3;
    if (n > 4 && f(4)) return 4;
    if (n > 5 && f(5)) return 5;
    if (n > 6 && f(6)) return 6;
    return n;
  }
  std::size_t i = 0;
  while (i < n && !f(i)) ++i;
  return i;
}

template <typename T, std::size_t kMost>
class FewNumbers {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  FewNumbers() = default;
  FewNumbers(const FewNumbers& other) : size_(other.size_) { std::copy(other.begin(), other.end(), all_); }
  FewNumbers& operator=(const FewNumbers& other) {
    size_ = other.size_;
    std::copy(other.begin(), other.end(), all_);
    return *this;
  }
  /// All zero, at most kMost.
  void assign_zeros(std::size_t size) {
    size_ = size;
    std::fill_n(all_, size, T{});
  }
  std::size_t size() const { return size_; }
  T* begin() { return all_; }
  T* end() { return all_ + size_; }
  const T* begin() const { return all_; }
  const T* end() const { return all_ + size_; }
  T& operator[](std::size_t i) { return all_[i]; }
  const T& operator[](std::size_t i) const { return all_[i]; }

 private:
  std::size_t size_ = 0;
  T all_[kMost];  // those that are there; the others are never looked at, so they cost nothing
};

}  // namespace loopfold::fold::adaptive
