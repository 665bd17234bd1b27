// Streams of 64-bit numbers most of which are small: a code of four bits for each, and as many bytes as it says.
//
// The codes stand in one byte string, two in a byte, low half first; the bytes, least significant first, in another. A
// plain number's code is its number of bytes, 0 to 8; a slot's says also from which guess it was coded. Writing and
// reading has no branch that depends on the number, which is what varints cost, and zeros, which are most of what
// predictors leave, take half a byte before compression.
//
// ValueReader fails once and stays failed, like ByteReader: what is not there reads as 0.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "trace/bytes.h"

namespace loopfold::trace {

static_assert(std::endian::native == std::endian::little, "numbers are copied to and from little-endian bytes");

/// The next value of anything that often advances evenly: last + stride, where the stride is the last difference that
/// was seen twice running, so that the step to the next row of a matrix is one surprise and not two.
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

/// How many bytes a number takes.
constexpr unsigned bytes_of(std::uint64_t value) { return (static_cast<unsigned>(std::bit_width(value)) + 7) / 8; }

/// The last slot values of a stream, newest first.
class RecentValues {
 public:
  static constexpr unsigned kCount = 16;

  std::uint64_t operator[](unsigned age) const { return values_[(next_ - 1 - age) % kCount]; }
  void push(std::uint64_t value) { values_[next_++ % kCount] = value; }
  void clear() { *this = {}; }

 private:
  std::array<std::uint64_t, kCount> values_{};
  unsigned next_ = 0;
};

/// The next value of a slot: as StridePredictor, or near a value that other slots had shortly before, as where a
/// pointer is loaded and then followed: the one so many values ago, plus a difference that was seen before.
struct SlotPredictor {
  StridePredictor even;
  std::uint64_t delta = 0;
  std::uint8_t source = 0;    // in RecentValues
  std::uint8_t wait = 0;      // surprises until another source is looked for
  std::uint8_t patience = 0;  // that many the next time

  std::uint64_t echo(const RecentValues& recent) const { return recent[source] + delta; }
  /// What the value teaches. `surprised`: it was far from the even guess, and not the echo; every now and then another
  /// source is looked for then.
  [[gnu::always_inline]] void learn(RecentValues& recent, std::uint64_t value, bool surprised) {
    if (surprised & (wait == 0)) [[unlikely]] {
      look_for_source(recent, value);
    } else {
      wait = static_cast<std::uint8_t>(wait - (surprised ? 1 : 0));
    }
    even.learn(value);
    recent.push(value);
  }

 private:
  [[gnu::noinline]] void look_for_source(const RecentValues& recent, std::uint64_t value) {
    for (unsigned age = 0; age < RecentValues::kCount; ++age) {
      if (bytes_of(zigzag(value - recent[age])) > 1) continue;
      source = static_cast<std::uint8_t>(age);
      delta = value - recent[age];
      patience = 0;
      return;
    }
    wait = patience;
    patience = static_cast<std::uint8_t>(patience < 32 ? 2 * patience + 1 : patience);
  }
};

/// A slot's value is coded as the difference to the nearer guess. Codes up to 8 are the bytes of the difference to the
/// even guess, codes from kEcho on those to the echo, of which there are at most 6.
inline constexpr unsigned kEcho = 9;
inline constexpr unsigned kMaxEchoBytes = 6;

class ValueWriter {
 public:
  /// Writes codes and numbers without looking for room. A copy in a local variable stays in registers.
  struct Pen {
    std::uint8_t* codes = nullptr;
    std::uint8_t* bytes = nullptr;

    void code(std::uint8_t code) { *codes++ = code; }
    void number(std::uint64_t value) {
      const unsigned size = bytes_of(value);
      *codes++ = static_cast<std::uint8_t>(size);
      std::memcpy(bytes, &value, 8);
      bytes += size;
    }
    void difference(std::uint64_t value) { number(zigzag(value)); }
    /// Returns whether it was another than the even guess.
    [[gnu::always_inline]] bool slot(SlotPredictor& predictor, RecentValues& recent, std::uint64_t value) {
      const std::uint64_t even = zigzag(value - predictor.even.guess());
      const std::uint64_t echo = zigzag(value - predictor.echo(recent));
      const unsigned even_size = bytes_of(even);
      const unsigned echo_size = bytes_of(echo);
      const bool echoes = echo_size < even_size && echo_size <= kMaxEchoBytes;
      const std::uint64_t difference = echoes ? echo : even;
      *codes++ = static_cast<std::uint8_t>(echoes ? kEcho + echo_size : even_size);
      std::memcpy(bytes, &difference, 8);
      bytes += echoes ? echo_size : even_size;
      predictor.learn(recent, value, (even_size > 1) & (echo != 0));
      return even != 0;
    }
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
    if (size > 8 || size > static_cast<std::size_t>(end_ - at_)) return fail(), 0;
    std::uint64_t value = 0;
    std::memcpy(&value, at_, size);
    at_ += size;
    return value;
  }
  std::uint64_t difference() { return unzigzag(number()); }

  /// The next value of a slot.
  [[gnu::always_inline]] std::uint64_t slot(SlotPredictor& predictor, RecentValues& recent) {
    if (next_ == count_) return fail(), 0;
    const unsigned code = peek();
    const unsigned size = code < kEcho ? code : code - kEcho;
    std::uint64_t difference = 0;
    if (end_ - at_ >= 8) [[likely]] {
      std::memcpy(&difference, at_, 8);
      difference &= kMasks[size];
    } else {
      if (size > static_cast<std::size_t>(end_ - at_)) return fail(), 0;
      std::memcpy(&difference, at_, size);
    }
    at_ += size;
    const std::uint64_t even = predictor.even.guess();
    const std::uint64_t echo = predictor.echo(recent);
    const std::uint64_t value = (code < kEcho ? even : echo) + unzigzag(difference);
    predictor.learn(recent, value, (bytes_of(zigzag(value - even)) > 1) & (value != echo));
    return value;
  }

  bool ok() const { return ok_; }
  bool at_end() const { return next_ == count_ && at_ == end_; }

 private:
  static constexpr std::array<std::uint64_t, 9> kMasks = {0,           0xff,        0xffff,     0xffffff, 0xffffffff,
                                                          ~0ull >> 24, ~0ull >> 16, ~0ull >> 8, ~0ull};

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
