// Where the search takes addresses from: what was just fed, or what a hypothesis says about the past.
//
// A source is asked for a progression: match(start, stride, most) takes as many addresses as agree with it, most at the
// most, and says how many. So a long row costs one call (for runs, one comparison; for plain addresses, one tight loop
// that the compiler turns into vector instructions).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "reconstruct/nest.h"

namespace loopfold::reconstruct {

/// Plain addresses.
class AddressSource {
 public:
  explicit AddressSource(std::span<const std::uint64_t> addresses) : left_(addresses) {}
  bool empty() const { return left_.empty(); }
  std::uint64_t front() const { return left_.front(); }
  std::span<const std::uint64_t> left() const { return left_; }
  void drop() { left_ = left_.subspan(1); }

  std::uint64_t match(std::uint64_t start, std::int64_t stride, std::uint64_t most) {
    const std::size_t limit = std::min<std::uint64_t>(most, left_.size());
    const std::uint64_t* const data = left_.data();
    const auto step = static_cast<std::uint64_t>(stride);
    std::size_t n = 0;
    std::uint64_t expected = start;
    while (n + kBlock <= limit && whole_block(data + n, expected, step)) {
      n += kBlock;
      expected += step * kBlock;
    }
    for (; n < limit && data[n] == expected; ++n) expected += step;
    left_ = left_.subspan(n);
    return n;
  }

 private:
  static constexpr std::size_t kBlock = 16;

  static bool whole_block(const std::uint64_t* data, std::uint64_t start, std::uint64_t step) {
    std::uint64_t differences = 0;
    for (std::size_t i = 0; i < kBlock; ++i) differences |= data[i] ^ (start + step * i);
    return differences == 0;
  }

  std::span<const std::uint64_t> left_;
};

/// One run.
class RunSource {
 public:
  explicit RunSource(const Run& run) : left_(run) {}
  bool empty() const { return left_.count == 0; }
  std::uint64_t front() const { return left_.start; }
  const Run& left() const { return left_; }
  void drop() { take(1); }

  std::uint64_t match(std::uint64_t start, std::int64_t stride, std::uint64_t most) {
    if (most == 0 || left_.count == 0 || start != left_.start) return 0;
    const std::uint64_t n = stride == left_.stride ? std::min(most, left_.count) : 1;
    take(n);
    return n;
  }

 private:
  void take(std::uint64_t n) {
    left_.start += static_cast<std::uint64_t>(left_.stride) * n;
    left_.count -= n;
  }
  Run left_;
};

/// Some of the addresses that a nest generates. Counts the rows that were looked at: that is what it costs.
class WalkSource {
 public:
  WalkSource(const Shape& shape, std::uint64_t from, std::uint64_t to) : walk_(shape), left_(to - from) {
    walk_.skip(from);
  }
  bool empty() const { return left_ == 0 || walk_.done(); }
  std::uint64_t front() const { return walk_.row().start; }
  std::uint64_t rows() const { return rows_; }
  void limit(std::uint64_t most) { left_ = std::min(left_, most); }
  /// What is left of the row.
  Run row() const { return {walk_.row().start, walk_.row().stride, std::min(left_, walk_.row().count)}; }
  void drop() { take(1); }

  std::uint64_t match(std::uint64_t start, std::int64_t stride, std::uint64_t most) {
    std::uint64_t n = 0;
    while (n < most && !empty()) {
      RunSource source(row());
      const std::uint64_t got = source.match(start + static_cast<std::uint64_t>(stride) * n, stride, most - n);
      if (got == 0) break;
      take(got);
      n += got;
    }
    return n;
  }

  void take(std::uint64_t n) {
    walk_.advance(n);
    left_ -= n;
    ++rows_;
  }

 private:
  NestWalk walk_;
  std::uint64_t left_;
  std::uint64_t rows_ = 0;
};

}  // namespace loopfold::reconstruct
