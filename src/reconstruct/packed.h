// The bytes of a compressed trace: numbers, and sequences of addresses as pieces. The format is in compress.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reconstruct/reconstruct.h"

namespace loopfold::reconstruct {

inline constexpr std::string_view kMagic("LFRC\1\n", 6);

// ---- numbers ------------------------------------------------------------------------------------------------------

inline void put(std::string& into, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) into.push_back(static_cast<char>(number | 0x80));
  into.push_back(static_cast<char>(number));
}

inline void put_signed(std::string& into, std::int64_t number) {
  put(into, static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63));
}

/// Takes numbers off the front of a text. After a failure everything is 0.
class Numbers {
 public:
  explicit Numbers(std::string_view text) : left_(text) {}
  bool failed() const { return failed_; }
  bool empty() const { return left_.empty(); }
  std::uint64_t next() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) break;
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    failed_ = true;
    left_ = {};
    return 0;
  }
  std::int64_t next_signed() {
    const std::uint64_t number = next();
    return static_cast<std::int64_t>(number >> 1 ^ (0 - (number & 1)));
  }
  std::string_view text(std::uint64_t length) {
    if (length > left_.size()) {
      failed_ = true;
      left_ = {};
      return {};
    }
    const std::string_view taken = left_.substr(0, length);
    left_.remove_prefix(length);
    return taken;
  }

 private:
  std::string_view left_;
  bool failed_ = false;
};

// ---- pieces -------------------------------------------------------------------------------------------------------

/// A sequence of addresses on its way to pieces, and the pieces as bytes.
class StreamWriter {
 public:
  StreamWriter() : loops_(Options{}, [this](Piece&& piece) { write(piece.nest); }) { waiting_.reserve(kBatch); }

  void add(std::uint64_t address) {
    waiting_.push_back(address);
    if (waiting_.size() == kBatch) flush();
  }

  const std::string& finish() {
    flush();
    loops_.finish();
    return bytes_;
  }
  std::uint64_t pieces() const { return loops_.summary().pieces; }

 private:
  static constexpr std::size_t kBatch = 1024;

  void flush() {
    loops_.add(waiting_);
    waiting_.clear();
  }

  void write(const Nest& nest) {
    put(bytes_, nest.levels());
    put_signed(bytes_, static_cast<std::int64_t>(nest.base - base_));
    base_ = nest.base;
    for (std::size_t j = 0; j < nest.levels(); ++j) {
      put_signed(bytes_, nest.coefficients[j]);
      put_signed(bytes_, nest.w[j]);
      for (std::size_t r = 0; r < j; ++r) put_signed(bytes_, nest.bound_coefficient(j, r));
    }
  }

  std::string bytes_;
  std::uint64_t base_ = 0;
  std::vector<std::uint64_t> waiting_;
  Reconstructor loops_;
};

/// The addresses that such bytes stand for, one by one.
class StreamReader {
 public:
  explicit StreamReader(std::string_view bytes) : numbers_(bytes) {}

  /// False at the end, or if the bytes are damaged.
  bool next(std::uint64_t& address) {
    while (!walk_ || walk_->done())
      if (!next_nest()) return false;
    address = walk_->row().start;
    walk_->advance(1);
    return true;
  }

 private:
  bool next_nest() {
    if (numbers_.empty()) return false;
    Nest nest;
    const std::uint64_t levels = numbers_.next();
    if (numbers_.failed() || levels > kMaxLevels) return false;
    base_ += static_cast<std::uint64_t>(numbers_.next_signed());
    nest.base = base_;
    nest.u.assign(levels * levels, 0);
    for (std::size_t j = 0; j < levels; ++j) {
      nest.coefficients.push_back(numbers_.next_signed());
      nest.w.push_back(numbers_.next_signed());
      for (std::size_t r = 0; r < j; ++r) nest.u[j * levels + r] = numbers_.next_signed();
      nest.u[j * levels + j] = -1;
    }
    if (numbers_.failed()) return false;
    walk_ = std::make_unique<NestWalk>(nest);
    return true;
  }

  Numbers numbers_;
  std::uint64_t base_ = 0;
  std::unique_ptr<NestWalk> walk_;
};

}  // namespace loopfold::reconstruct
