// Streams of 64-bit numbers most of which are small: a code of four bits for each, and as many bytes as it says.
//
// The codes (0 to 8, the number of bytes of the number) stand in one byte string, two in a byte, low half first; the
// bytes, least significant first, in another. Writing and reading a number has no branch that depends on it, which is
// what varints cost, and zeros, which are most of what predictors leave, take half a byte before compression.
//
// ValueReader fails once and stays failed, like ByteReader: what is not there reads as 0.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "trace/bytes.h"

namespace loopfold::trace {

static_assert(std::endian::native == std::endian::little, "numbers are copied to and from little-endian bytes");

/// The next value of a slot, or of anything that often advances evenly: last + stride, where the stride is the last
/// difference that was seen twice running, so that the step to the next row of a matrix is one surprise and not two.
struct StridePredictor {
  std::uint64_t last = 0;
  std::uint64_t stride = 0;
  std::uint64_t difference = 0;

  std::uint64_t guess() const { return last + stride; }
  void learn(std::uint64_t value) {
    const std::uint64_t step = value - last;
    stride = step == difference ? step : stride;
    difference = step;
    last = value;
  }
};

class ValueWriter {
 public:
  /// Writes codes and numbers without looking for room. A copy in a local variable stays in registers.
  struct Pen {
    std::uint8_t* codes = nullptr;
    std::uint8_t* bytes = nullptr;

    void code(std::uint8_t code) { *codes++ = code; }
    void number(std::uint64_t value) {
      const unsigned size = (static_cast<unsigned>(std::bit_width(value)) + 7) / 8;
      *codes++ = static_cast<std::uint8_t>(size);
      std::memcpy(bytes, &value, 8);
      bytes += size;
    }
    void difference(std::uint64_t value) { number(zigzag(value)); }
  };

  /// A pen for up to `count` codes and numbers. What it writes counts when it is given back.
  Pen take(std::size_t count) {
    if (codes_used_ + count > codes_.size()) [[unlikely]]
      codes_.resize(2 * (codes_used_ + count));
    if (bytes_used_ + 8 * (count + 1) > bytes_.size()) [[unlikely]]
      bytes_.resize(2 * (bytes_used_ + 8 * (count + 1)));
    return {codes_.data() + codes_used_, bytes_.data() + bytes_used_};
  }
  void give_back(const Pen& pen) {
    codes_used_ = static_cast<std::size_t>(pen.codes - codes_.data());
    bytes_used_ = static_cast<std::size_t>(pen.bytes - bytes_.data());
  }

  void clear() { codes_used_ = bytes_used_ = 0; }
  bool empty() const { return codes_used_ == 0; }
  std::size_t codes() const { return codes_used_; }
  std::size_t size() const { return codes_used_ / 2 + bytes_used_; }
  /// Appends: number of codes, the codes, the bytes.
  void finish(ByteWriter& out) const {
    out.varint(codes_used_);
    std::uint8_t* to = out.extend((codes_used_ + 1) / 2);
    const std::uint8_t* const from = codes_.data();
    for (std::size_t i = 0; i < codes_used_ / 2; ++i)
      to[i] = static_cast<std::uint8_t>(from[2 * i] | from[2 * i + 1] << 4);
    if (codes_used_ % 2 != 0) to[codes_used_ / 2] = from[codes_used_ - 1];
    out.raw({bytes_.data(), bytes_used_});
  }

 private:
  std::vector<std::uint8_t> codes_;  // one in a byte until the end
  std::size_t codes_used_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::size_t bytes_used_ = 0;
};

class ValueReader {
 public:
  ValueReader() = default;
  /// Takes what ValueWriter::finish() wrote: all that is left in `in`.
  explicit ValueReader(ByteReader& in) {
    // Every code needs half a byte.
    const std::uint64_t codes = in.bounded(2 * in.remaining());
    const std::span<const std::uint8_t> packed = in.raw(static_cast<std::size_t>((codes + 1) / 2));
    const std::span<const std::uint8_t> bytes = in.raw(in.remaining());
    ok_ = in.ok() && (codes % 2 == 0 || packed.back() < 16);
    if (!ok_) return;
    codes_ = packed.data();
    count_ = static_cast<std::size_t>(codes);
    at_ = bytes.data();
    end_ = at_ + bytes.size();
  }

  std::size_t remaining() const { return count_ - next_; }
  std::uint8_t code() {
    if (next_ == count_) return fail(), std::uint8_t{0};
    return peek();
  }
  std::uint64_t number() {
    if (next_ == count_) return fail(), 0;
    const std::size_t size = peek();
    std::uint64_t value = 0;
    if (end_ - at_ >= 8) [[likely]] {
      std::memcpy(&value, at_, 8);
      value &= kMasks[size];
    } else {
      if (size > static_cast<std::size_t>(end_ - at_)) return fail(), 0;
      std::memcpy(&value, at_, size);
    }
    if (size > 8) return fail(), 0;
    at_ += size;
    return value;
  }
  std::uint64_t difference() { return unzigzag(number()); }

  /// Can `count` numbers be read with fast_number()?
  bool roomy(std::size_t count) const {
    return remaining() >= count && static_cast<std::size_t>(end_ - at_) >= 8 * count;
  }
  /// number() where it is known to be there. A code above 8 yields 0 and is remembered in ok().
  std::uint64_t fast_number() {
    const std::size_t size = peek();
    std::uint64_t value = 0;
    std::memcpy(&value, at_, 8);
    ok_ &= size <= 8;
    at_ += size <= 8 ? size : 0;
    return value & kMasks[size];
  }

  bool ok() const { return ok_; }
  bool at_end() const { return next_ == count_ && at_ == end_; }

 private:
  static constexpr std::uint64_t kMasks[16] = {
      0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, 0xffffffffffffffff};

  std::uint8_t peek() {
    const std::size_t at = next_++;
    return static_cast<std::uint8_t>(codes_[at / 2] >> (at % 2 * 4) & 15);
  }
  void fail() {
    ok_ = false;
    next_ = count_;
    at_ = end_;
  }

  const std::uint8_t* codes_ = nullptr;
  std::size_t count_ = 0;
  std::size_t next_ = 0;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  bool ok_ = true;
};

}  // namespace loopfold::trace
