// Reads numbers from bytes that may be damaged: a read beyond the end gives 0 and makes the reader bad for good, so
// that a parser asks once, at the end of a record, whether all of it was there. Little-endian, unaligned. Internal to
// src/symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace loopfold::symbols {

class ByteReader {
 public:
  explicit ByteReader(std::span<const unsigned char> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return position_ >= bytes_.size(); }
  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }

  void seek(std::size_t position) {
    if (position > bytes_.size()) {
      fail();
    } else {
      position_ = position;
    }
  }

  void skip(std::uint64_t count) {
    if (count > left()) {
      fail();
    } else {
      position_ += count;
    }
  }

  template <typename T>
  T read() {
    static_assert(std::is_integral_v<T>);
    T value = 0;
    if (sizeof value > left()) {
      fail();
      return value;
    }
    std::memcpy(&value, bytes_.data() + position_, sizeof value);
    position_ += sizeof value;
    return value;
  }

  /// Bits beyond the 64th are dropped.
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = read<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }

  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = read<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }

  /// The string up to the next NUL, which is skipped.
  std::string_view string() {
    const auto* begin = reinterpret_cast<const char*>(bytes_.data() + position_);
    const std::size_t length = strnlen(begin, left());
    skip(length + 1);
    return ok_ ? std::string_view(begin, length) : std::string_view();
  }

 private:
  void fail() {
    ok_ = false;
    position_ = bytes_.size();
  }

  std::span<const unsigned char> bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace loopfold::symbols
