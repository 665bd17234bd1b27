// Streams of 64-bit numbers most of which are small: a code of four bits for each, and as many bytes as it says.
//
// The codes stand in one byte string, two in a byte, low half first; the bytes, least significant first, in another. A
// plain number's code is its number of bytes, 0 to 8; a slot's says also from which guess it was coded. Writing and
// reading has no branch that depends on the number, which is what varints cost, and zeros, which are most of what
// predictors leave, take half a byte before compression.
//
// ValueReader fails once and stays failed, like ByteReader: what is not there reads as 0.
#pragma once

#include <algorithm>
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

/// The same, faster: how many bytes a zigzag code takes, without a branch.
constexpr unsigned bytes_of_code(std::uint64_t code) {
  return static_cast<unsigned>(63 ^ std::countl_zero(code | 1)) / 8 + (code != 0 ? 1u : 0u);
}

/// Does a difference take more than one byte?
constexpr bool is_large(std::uint64_t difference) { return difference + 0x80 > 0xff; }
inline constexpr std::uint64_t kLargestByte = 0xff;  // of zigzag codes that are not large

/// The slot values of a stream, of which the last kReach can be looked at: they stand before the place of the next one.
class History {
 public:
  static constexpr unsigned kReach = 16;

  History() { clear(); }
  /// The place of the next value, with room for `count`. What stands there counts after advance().
  std::uint64_t* reserve(std::size_t count) {
    if (at_ + count > values_.size()) [[unlikely]]
      make_room(count);
    return values_.data() + at_;
  }
  void advance(std::size_t count) { at_ += count; }
  void push(std::uint64_t value) {
    *reserve(1) = value;
    ++at_;
  }
  void clear() {
    values_.resize(std::max<std::size_t>(values_.size(), kReach));
    std::fill_n(values_.begin(), kReach, 0);
    at_ = kReach;
  }

 private:
  void make_room(std::size_t count) {
    std::memmove(values_.data(), values_.data() + at_ - kReach, kReach * sizeof(std::uint64_t));
    at_ = kReach;
    if (at_ + count > values_.size()) values_.resize(std::max<std::size_t>(1024, 2 * (at_ + count)));
  }

  std::vector<std::uint64_t> values_;
  std::size_t at_ = 0;
};

/// The next value of a slot: as StridePredictor, or near a value that other slots had shortly before, as where a
/// pointer is loaded and then followed: the one so many values ago, plus a difference that was seen before. `next` is
/// the value's place in the History. Where no such echo is found it is left alone for longer and longer: while the
/// predictor waits, only the even guess counts.
struct SlotPredictor {
  StridePredictor even;
  std::uint64_t delta = 0;
  std::uint8_t source = 1;    // so many values ago
  std::uint8_t wait = 0;      // values until an echo is considered again
  std::uint8_t patience = 0;  // that many the next time

  std::uint64_t echo(const std::uint64_t* next) const { return *(next - source) + delta; }
  /// What the value teaches if the predictor does not wait. `surprised`: it was far from the even guess, and not the
  /// echo; another source is looked for then.
  [[gnu::always_inline]] void learn(const std::uint64_t* next, std::uint64_t value, bool surprised) {
    if (surprised) [[unlikely]]
      look_for_source(next, value);
    even.learn(value);
  }

 private:
  [[gnu::noinline]] void look_for_source(const std::uint64_t* next, std::uint64_t value) {
    for (unsigned ago = 1; ago <= History::kReach; ++ago) {
      if (is_large(value - *(next - ago))) continue;
      source = static_cast<std::uint8_t>(ago);
      delta = value - *(next - ago);
      patience = 0;
      return;
    }
    wait = patience;
    patience = static_cast<std::uint8_t>(patience < kMostPatience ? 2 * patience + 1 : patience);
  }
  static constexpr std::uint8_t kMostPatience = 63;
};

/// What the values of a column are computed from: each from the one `distance` values before it in its run, times a
/// power of two.
struct Relation {
  std::uint64_t delta = 0;    // what was added to make values that follow
  std::uint8_t distance = 0;  // 0: none
  std::uint8_t shift = 0;

  static constexpr unsigned kShifts = 4;
};

/// A slot's value is coded as the difference to the nearer guess. Codes up to 8 are the bytes of the difference to the
/// even guess, codes from kEcho on those to the echo, of which there are at most 6.
inline constexpr unsigned kEcho = 9;
inline constexpr unsigned kMaxEchoBytes = 6;

class ValueWriter {
 public:
  /// Writes codes and numbers without looking for room. A copy in a local variable stays in registers.
  class Pen {
   public:
    Pen(std::uint8_t* to_codes, std::uint8_t* to_bytes) : codes(to_codes), bytes(to_bytes) {}
    std::uint8_t* codes;
    std::uint8_t* bytes;

    void code(std::uint8_t code) { *codes++ = code; }
    void number(std::uint64_t value) { put(value, bytes_of(value)); }
    void difference(std::uint64_t value) { put(zigzag(value), bytes_of_code(zigzag(value))); }
    /// Numbers that a predictor guesses.
    void differences(StridePredictor& predictor, std::span<const std::uint64_t> values) {
      StridePredictor guesser = predictor;
      std::uint8_t* to_codes = codes;
      std::uint8_t* to_bytes = bytes;
      for (const std::uint64_t value : values) {
        const std::uint64_t code = zigzag(value - guesser.guess());
        const unsigned size = bytes_of_code(code);
        guesser.learn(value);
        *to_codes++ = static_cast<std::uint8_t>(size);
        std::memcpy(to_bytes, &code, 8);
        to_bytes += size;
      }
      codes = to_codes;
      bytes = to_bytes;
      predictor = guesser;
    }
    /// A slot's value that stands at `next` in the History. Returns whether it was another than the even guess.
    [[gnu::always_inline]] bool slot(SlotPredictor& predictor, const std::uint64_t* next) {
      const std::uint64_t value = *next;
      const std::uint64_t even = zigzag(value - predictor.even.guess());
      if (even == 0) {
        predictor.wait = static_cast<std::uint8_t>(predictor.wait - (predictor.wait != 0 ? 1 : 0));
        *codes++ = 0;
        predictor.even.difference = predictor.even.stride;
        predictor.even.last = value;
        return false;
      }
      if (predictor.wait != 0) {
        --predictor.wait;
        put(even, bytes_of_code(even));
        predictor.even.learn(value);
        return even != 0;
      }
      const std::uint64_t echo = zigzag(value - predictor.echo(next));
      const unsigned even_size = bytes_of_code(even);
      const unsigned echo_size = bytes_of_code(echo);
      const bool echoes = (echo_size < even_size) & (echo_size <= kMaxEchoBytes);
      put(echoes ? echo : even, echoes ? echo_size : even_size, echoes ? kEcho : 0);
      predictor.learn(next, value, (even > kLargestByte) & (echo != 0));
      return even != 0;
    }

   private:
    void put(std::uint64_t number, unsigned size, unsigned kind = 0) {
      *codes++ = static_cast<std::uint8_t>(kind + size);
      std::memcpy(bytes, &number, 8);
      bytes += size;
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
    std::size_t i = 0;
    for (; 2 * i + 8 <= codes_used_; i += 4) pack_eight(from + 2 * i, to + i);
    for (; i < codes_used_ / 2; ++i) to[i] = static_cast<std::uint8_t>(from[2 * i] | from[2 * i + 1] << 4);
    if (codes_used_ % 2 != 0) to[codes_used_ / 2] = from[codes_used_ - 1];
    out.raw({bytes_.data(), bytes_used_});
  }

 private:
  /// Eight codes from as many bytes to four.
  static void pack_eight(const std::uint8_t* from, std::uint8_t* to) {
    std::uint64_t codes = 0;
    std::memcpy(&codes, from, 8);
    codes = (codes | codes >> 4) & 0x00ff00ff00ff00ff;
    codes = (codes | codes >> 8) & 0x0000ffff0000ffff;
    const std::uint32_t packed = static_cast<std::uint32_t>(codes | codes >> 16);
    std::memcpy(to, &packed, 4);
  }

  std::vector<std::uint8_t> codes_;  // one in a byte until the end
  std::size_t codes_used_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::size_t bytes_used_ = 0;
};

class ValueReader {
 public:
  ValueReader() = default;
  /// Takes what ValueWriter::finish() wrote: all that is left in `in`. `room` is for the codes, one in a byte, and must
  /// stay as it is while the reader and its copies are in use.
  ValueReader(ByteReader& in, std::vector<std::uint8_t>& room) {
    // Every code needs half a byte.
    const std::uint64_t codes = in.bounded(2 * in.remaining());
    const std::span<const std::uint8_t> packed = in.raw(static_cast<std::size_t>((codes + 1) / 2));
    const std::span<const std::uint8_t> bytes = in.raw(in.remaining());
    ok_ = in.ok() && (codes % 2 == 0 || packed.back() < 16);
    if (!ok_) return;
    unpack(packed, room);
    next_ = room.data();
    last_ = next_ + codes;
    at_ = bytes.data();
    end_ = at_ + bytes.size();
  }

  std::size_t remaining() const { return static_cast<std::size_t>(last_ - next_); }
  std::uint8_t code() {
    if (next_ == last_) return fail(), std::uint8_t{0};
    return *next_++;
  }
  std::uint64_t number() {
    if (next_ == last_) return fail(), 0;
    const std::size_t size = *next_++;
    return size > 8 ? (fail(), 0) : take(size);
  }
  std::uint64_t difference() { return unzigzag(number()); }

  /// Numbers that a predictor guesses.
  void differences(StridePredictor& predictor, std::span<std::uint64_t> values) {
    if (values.size() > remaining()) return fail();
    std::size_t i = 0;
    StridePredictor guesser = predictor;
    const std::uint8_t* at = at_;
    const std::uint8_t* next = next_;
    for (; i < values.size() && end_ - at >= 8; ++i) {
      const unsigned size = *next++;
      if (size > 8) [[unlikely]]
        return fail();
      std::uint64_t code = 0;
      std::memcpy(&code, at, 8);
      at += size;
      values[i] = guesser.guess() + unzigzag(code & kMasks[size]);
      guesser.learn(values[i]);
    }
    at_ = at;
    next_ = next;
    for (; i < values.size(); ++i) {
      values[i] = guesser.guess() + difference();
      guesser.learn(values[i]);
    }
    predictor = guesser;
  }

  /// May `count` values of slots be read without looking for the end?
  bool has_plenty(std::size_t count) const {
    return count <= remaining() && 8 * (count + 1) <= static_cast<std::size_t>(end_ - at_);
  }
  /// The next value of a slot, whose place in the History is `next`. `kChecked`: the end may be near.
  template <bool kChecked>
  [[gnu::always_inline]] std::uint64_t slot(SlotPredictor& predictor, const std::uint64_t* next) {
    if (kChecked && next_ == last_) return fail(), 0;
    const unsigned code = *next_++;
    const std::uint64_t echoes = 0 - static_cast<std::uint64_t>(code >= kEcho);
    const unsigned size = code - (kEcho & static_cast<unsigned>(echoes));
    const std::uint64_t difference = unzigzag(kChecked ? take(size) : take_plenty(size));
    const std::uint64_t even = predictor.even.guess();
    if (predictor.wait != 0) {
      ok_ &= echoes == 0;
      --predictor.wait;
      const std::uint64_t value = even + difference;
      predictor.even.learn(value);
      return value;
    }
    const std::uint64_t echo = predictor.echo(next);
    const std::uint64_t value = (even ^ ((even ^ echo) & echoes)) + difference;
    predictor.learn(next, value, is_large(value - even) & (value != echo));
    return value;
  }

  bool ok() const { return ok_; }
  bool at_end() const { return next_ == last_ && at_ == end_; }

 private:
  static constexpr std::array<std::uint64_t, 9> kMasks = {0,           0xff,        0xffff,     0xffffff, 0xffffffff,
                                                          ~0ull >> 24, ~0ull >> 16, ~0ull >> 8, ~0ull};

  /// All codes at once, each into a byte.
  static void unpack(std::span<const std::uint8_t> packed, std::vector<std::uint8_t>& room) {
    if (room.size() < 2 * packed.size()) room.resize(2 * packed.size());
    const std::uint8_t* const from = packed.data();
    std::uint8_t* const to = room.data();
    std::size_t i = 0;
    for (; i + 4 <= packed.size(); i += 4) unpack_four(from + i, to + 2 * i);
    for (; i < packed.size(); ++i) {
      to[2 * i] = from[i] & 15;
      to[2 * i + 1] = from[i] >> 4;
    }
  }
  /// The reverse of pack_eight().
  static void unpack_four(const std::uint8_t* from, std::uint8_t* to) {
    std::uint32_t packed = 0;
    std::memcpy(&packed, from, 4);
    std::uint64_t codes = packed;
    codes = (codes | codes << 16) & 0x0000ffff0000ffff;
    codes = (codes | codes << 8) & 0x00ff00ff00ff00ff;
    codes = (codes | codes << 4) & 0x0f0f0f0f0f0f0f0f;
    std::memcpy(to, &codes, 8);
  }
  std::uint64_t take(std::size_t size) {
    if (size > static_cast<std::size_t>(end_ - at_)) return fail(), 0;
    std::uint64_t number = 0;
    std::memcpy(&number, at_, size);
    at_ += size;
    return number;
  }
  std::uint64_t take_plenty(std::size_t size) {
    std::uint64_t number = 0;
    std::memcpy(&number, at_, 8);
    at_ += size;
    return number & kMasks[size];
  }
  void fail() {
    ok_ = false;
    next_ = last_;
    at_ = end_;
  }

  const std::uint8_t* next_ = nullptr;  // code
  const std::uint8_t* last_ = nullptr;  // behind the last code
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  bool ok_ = true;
};

}  // namespace loopfold::trace
