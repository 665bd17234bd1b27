// Byte strings of variable-length integers: what every payload is made of.
//
// A varint is 7 bits per byte, least significant first, the top bit set on all bytes but the last; at most 10 bytes.
// Signed numbers and differences are zigzag-coded first (0, -1, 1, -2, ... become 0, 1, 2, 3, ...), with wrap-around,
// so that any two 64-bit values have a difference.
//
// ByteReader fails once and stays failed: a read past the end or a malformed number yields 0 and clears ok(), so a
// decoder reads a whole record and checks once. Nothing is allocated for a count that the bytes left cannot hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loopfold::trace {

inline constexpr std::size_t kMaxVarintBytes = 10;

constexpr std::uint64_t zigzag(std::uint64_t value) { return (value << 1) ^ (0 - (value >> 63)); }
constexpr std::uint64_t unzigzag(std::uint64_t code) { return (code >> 1) ^ (0 - (code & 1)); }

/// Stores `value` at `to`, where kMaxVarintBytes bytes are free; returns the place behind it.
inline std::uint8_t* put_varint(std::uint8_t* to, std::uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<std::uint8_t>(value);
  return to;
}

/// Reads a varint in [from, end); returns the place behind it, or nullptr if it is cut off or does not fit 64 bits.
inline const std::uint8_t* get_varint(const std::uint8_t* from, const std::uint8_t* end, std::uint64_t& value) {
  if (from != end && *from < 0x80) [[likely]] {
    value = *from;
    return from + 1;
  }
  std::uint64_t result = 0;
  for (unsigned shift = 0; shift < 70 && from != end; shift += 7) {
    const std::uint64_t byte = *from++;
    if (shift == 63 && byte > 1) return nullptr;
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      value = result;
      return from;
    }
  }
  return nullptr;
}

class ByteWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(value); }
  void varint(std::uint64_t value) {
    if (value < 0x80) return bytes_.push_back(static_cast<std::uint8_t>(value));
    std::uint8_t buffer[kMaxVarintBytes];
    bytes_.insert(bytes_.end(), buffer, put_varint(buffer, value));
  }
  /// A number that is small in either direction, such as a difference.
  void signed_varint(std::uint64_t value) { varint(zigzag(value)); }
  void raw(std::span<const std::uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  /// Appends `size` bytes, which the caller fills in before the next call.
  std::uint8_t* extend(std::size_t size) {
    bytes_.resize(bytes_.size() + size);
    return bytes_.data() + bytes_.size() - size;
  }
  /// Length, then the bytes.
  void string(std::string_view text) {
    varint(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  void clear() { bytes_.clear(); }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint8_t byte() {
    if (at_ == end_) return fail(), std::uint8_t{0};
    return *at_++;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    const std::uint8_t* next = get_varint(at_, end_, value);
    if (next == nullptr) return fail(), 0;
    at_ = next;
    return value;
  }
  std::uint64_t signed_varint() { return unzigzag(varint()); }

  /// A varint that is at most `limit`.
  std::uint64_t bounded(std::uint64_t limit) {
    const std::uint64_t value = varint();
    if (value > limit) return fail(), 0;
    return value;
  }
  /// A number of records of at least `record_bytes` bytes each, which follow: more than fit is an error.
  std::size_t count(std::size_t record_bytes) { return static_cast<std::size_t>(bounded(remaining() / record_bytes)); }

  std::span<const std::uint8_t> raw(std::size_t size) {
    if (size > remaining()) return fail(), std::span<const std::uint8_t>{};
    const std::span<const std::uint8_t> result(at_, size);
    at_ += size;
    return result;
  }
  std::string string() {
    const std::span<const std::uint8_t> bytes = raw(count(1));
    return std::string(bytes.begin(), bytes.end());
  }

  void fail() {
    ok_ = false;
    at_ = end_;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool ok_ = true;
};

}  // namespace loopfold::trace
