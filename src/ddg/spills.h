// Origins of values that were put aside in memory.
//
// A *provenance* is what is known of the origin of some bytes: the instance that made them, or that nothing did; and if
// that instance is a plain load, where it loaded from and who had written that then, so that it can be asked later
// whether loading again would give the same. Writers are one cell if one instance wrote all the bytes, else a hash of
// all of them.
//
// A *spill* is remembered by the address where it began and its size (a smaller one at the same address leaves the rest
// of a larger one), with the provenance of each of its bytes, nearly always one for all. It holds for as long as shadow
// memory says that it is the last writer of a byte: that is asked by whoever looks for one, so nothing has to be told
// when memory is written. Entries whose bytes all have another last writer by now are dropped when the table would have
// to grow. Exact. One probe per store or load of a spilled value, mostly.
#pragma once

#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ddg/shadow_memory.h"

namespace loopfold::ddg {

struct Provenance {
  Cell origin;
  Cell writers;  // of the bytes that it loaded, if it is a load
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  bool none = false;   // nothing made it, or it is not known
  bool load = false;   // the origin is a plain load
  bool mixed = false;  // `writers` is a hash
  bool stale = false;  // they are known to be others by now, or not known at all

  /// Equal origins are equal in everything else.
  bool same_origin(const Provenance& other) const { return none == other.none && (none || origin == other.origin); }
};

/// Puts one into `count` places, each in pieces of 16 bytes that are loaded once.
[[gnu::always_inline]] inline void fill_provenances(Provenance* into, std::size_t count, const Provenance& provenance) {
  static_assert(sizeof(Provenance) == 48);
  const auto* const from = reinterpret_cast<const __m128i*>(&provenance);
  const __m128i a = _mm_loadu_si128(from);
  const __m128i b = _mm_loadu_si128(from + 1);
  const __m128i c = _mm_loadu_si128(from + 2);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < count; ++i) {
    auto* const to = reinterpret_cast<__m128i*>(into + i);
    _mm_storeu_si128(to, a);
    _mm_storeu_si128(to + 1, b);
    _mm_storeu_si128(to + 2, c);
  }
}

/// Who wrote some bytes last, for comparisons: into writers, mixed and stale.
void note_writers(const ShadowMemory& memory, Provenance& into);
/// Whether a byte that a load got has another last writer by now.
bool is_rewritten_slowly(const ShadowMemory& memory, const Provenance& load);
inline bool is_rewritten(const ShadowMemory& memory, const Provenance& load) {
  if (load.stale) return true;
  if (!load.mixed && load.size != 0 && memory.holds(load.address, load.size, load.writers)) return false;
  return is_rewritten_slowly(memory, load);
}

/// The provenance of consecutive bytes.
class ProvenanceBytes {
 public:
  void clear() {
    count_ = 0;
    if (!more_.empty()) more_.clear();
  }
  /// The next bytes, up to but without `end`.
  void add(std::uint8_t end, const Provenance& provenance) {
    if (count_ != 0) return add_more(end, provenance);
    first_ = provenance;
    first_end_ = end;
    count_ = 1;
  }
  /// Of the byte; bytes behind the last have none.
  const Provenance& at(std::uint8_t byte) const;
  /// Where the bytes with that provenance end.
  std::uint8_t end_at(std::uint8_t byte) const;
  /// That of all bytes up to this one, if they have the same; else null.
  const Provenance* only(std::uint8_t last) const { return count_ > 0 && last < first_end_ ? &first_ : nullptr; }
  bool empty() const { return count_ == 0; }

  template <class Visit>
  void for_each(Visit&& visit) {
    if (count_ > 0) visit(first_);
    for (Piece& piece : more_) visit(piece.provenance);
  }
  template <class Test>
  bool all_of(Test&& test) const {
    return (count_ == 0 || test(first_)) &&
           std::all_of(more_.begin(), more_.end(), [&](const Piece& piece) { return test(piece.provenance); });
  }
  std::uint64_t bytes() const { return more_.capacity() * sizeof(Piece); }

 private:
  struct Piece {
    std::uint8_t end = 0;
    Provenance provenance;
  };
  static const Provenance kNothing;

  void add_more(std::uint8_t end, const Provenance& provenance);

  Provenance first_;
  std::uint8_t first_end_ = 0;
  std::uint8_t count_ = 0;
  std::vector<Piece> more_;
};

struct Spill {
  std::uint64_t address = 0;  // 0: none
  std::uint32_t size = 0;
  Cell cell;              // of the store
  ProvenanceBytes value;  // empty: the store itself is the origin
};

class Spills {
 public:
  /// The spill of so many bytes that begins here, to be filled in: cell and value are what they were, or nothing. It
  /// stays where it is until the next call.
  Spill& at(std::uint64_t address, std::uint32_t size, const ShadowMemory& memory);

  /// The spill `cell`, of so many bytes, that begins here, if it does.
  const Spill* find(std::uint64_t address, std::uint32_t size, const Cell& cell) const;
  /// The last spill of so many bytes that begins here; null if there was none.
  const Spill* last_at(std::uint64_t address, std::uint32_t size) const;
  /// The spill `cell`, of so many bytes, that wrote the byte here, wherever it begins.
  const Spill* covering(std::uint64_t address, std::uint32_t size, const Cell& cell) const;

  template <class Visit>
  void for_each(Visit&& visit) {
    for (Spill& spill : table_)
      if (spill.address != 0) visit(spill);
  }

  /// Whether there was ever a spill near these bytes. If not, no load of them gets one back.
  bool ever_near(std::uint64_t first, std::uint64_t last) const;

  /// Forgets spills of which nothing is left.
  void drop_dead(const ShadowMemory& memory);

  std::uint64_t bytes() const { return table_.size() * sizeof(Spill) + more_bytes_; }

 private:
  static constexpr std::size_t kSmallest = 1024;

  std::size_t slot_of(std::uint64_t address, std::uint32_t size) const {
    return static_cast<std::size_t>(((address ^ std::uint64_t{size} << 56) * 0x9e3779b97f4a7c15u) >> 20) &
           (table_.size() - 1);
  }
  void insert(std::vector<Spill>& old, std::size_t slots);

  static constexpr unsigned kPageBits = 12;

  void note_page(std::uint64_t page);

  std::uint64_t last_page_ = 0;          // that was noted
  std::vector<std::uint64_t> pages_;     // that a spill touched, sorted
  std::vector<Spill> table_{kSmallest};  // open addressing; its size is a power of two
  std::size_t used_ = 0;
  std::uint64_t more_bytes_ = 0;  // of pieces, as of the last time that they were counted
};

}  // namespace loopfold::ddg
