// One label over points that need not form a lattice: along which dimensions is it affine?
//
// Two families of claims are followed while the points go by, each as long as no point contradicts it:
// - *suffix m*: among points that agree in the dimensions before m, the label is affine in the others, with the same
//   coefficients everywhere. m = 0: it is affine. In a stream in lexicographic order such points follow each other, and
//   their differences are sums of the differences of neighbours, so it is enough to look at the latter: suffix m must
//   explain those whose first non-zero coordinate is m or later. A claim is a system of linear equations in the
//   coefficients, kept in reduced echelon form; almost always the difference is one that is understood already, and
//   costs a dot product. A matrix that is stored row by row is suffix 1 even if every row is elsewhere.
// - *prefix q*: all rows (points that agree in the dimensions before q) are the same but for a constant, and this
//   constant is affine in the dimensions before q. Rows are compared by a 64-bit hash of their coordinates and label
//   differences. x[col[k]] in a loop over t is prefix 1 of (t, k): the label does not depend on t.
// Suffix m and prefix q <= m together say: affine but along dimensions q .. m-1. (Two points that agree there: from the
// first to the second go along the dimensions before q first; the point in between exists, since all rows have the same
// coordinates.) Nothing else is claimed: a dimension that is TOP vouches for no other.
//
// A row that is the only one so far and has become long is not compared with later ones: then the dimensions outside of
// it are TOP where they change after all.
//
// Exact, but for collisions of the hash. The cost per point, once its kind is known, is a dot product over the
// coordinates that changed and a multiplication per prefix that still may hold; nothing once all claims are refuted.
// Memory O(D^2) numbers per claim at most, none then.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "fold/adaptive_array.h"
#include "fold/fold.h"
#include "fold/fraction.h"
#include "support/wide.h"

namespace loopfold::fold::adaptive {

/// From the point before to this one.
struct Move {
  const std::int64_t* point = nullptr;
  const std::int64_t* step = nullptr;  // the difference
  std::size_t first = 0;               // the number of its first coordinate that is not 0; dimensions if there is none
  std::uint64_t hash = 0;              // of the difference
  bool small = true;                   // the difference fits into 64 bits
  std::uint32_t fresh = 0;             // coordinates that change for the first time, as bits
};

/// Of a difference of points: the sum over its coordinates of this, plus `first`.
inline std::uint64_t hash_of(std::size_t dimension, std::int64_t number) {
  const std::uint64_t factor = 0x9e3779b97f4a7c15 * (2 * dimension + 3);
  return static_cast<std::uint64_t>(number) * (factor ^ 0xd6e8feb86659fd92);
}

/// The hash of one thing more.
inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

/// The same for several points, each from the one before it. They come in order, and all differences fit into 64 bits.
struct Moves {
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostDimensions = 16;

  const std::int64_t* points = nullptr;
  const std::int64_t* before = nullptr;  // the point before the first
  std::size_t dimensions = 0;
  std::size_t n = 0;
  std::array<std::uint64_t, kMost> hashes;
  std::array<std::uint8_t, kMost> first;
  std::array<std::uint64_t, kMostDimensions> outside;  // by dimension: points before which an earlier one changed, as
                                                       // bits

  /// False if a difference is too large; then nothing is said. `follows`: as in Rows, but for the first one.
  bool set(const std::int64_t* points, const std::int64_t* before, std::size_t dimensions, std::size_t n,
           std::uint64_t follows);
  Move at(std::size_t i, std::int64_t* steps) const {
    const std::int64_t* const point = points + i * dimensions;
    const std::int64_t* const from = i == 0 ? before : point - dimensions;
    for (std::size_t k = 0; k < dimensions; ++k) steps[k] = point[k] - from[k];
    return {point, steps, first[i], hashes[i], true, 0};
  }

 private:
  template <std::size_t kDimensions>
  bool set_for(std::uint64_t follows);
};

/// Linear equations sum v[k] * c[k] = r in unknown c, in reduced row echelon form.
class Equations {
 public:
  explicit Equations(std::size_t unknowns) : unknowns_(unknowns) {}
  /// Adds an equation; false if it contradicts the others, or its numbers got too large. `fresh`: it says more.
  bool add(const std::int64_t* vector, std::int64_t value, bool& fresh);
  /// Sets the first coefficients to a solution where unknowns that are not determined are 0; false if it does not fit.
  bool solve(Fraction& into) const;
  /// Unknowns that have one value, as bits; `numerators` gets these values, over the divisor.
  std::uint32_t determined(std::int64_t* numerators, std::int64_t& divisor) const;
  /// Whether they say the same, in the same words.
  bool same(const Equations& other) const { return numbers_ == other.numbers_; }
  /// Of as many unknowns.
  void copy(const Equations& other) { numbers_ = other.numbers_; }
  std::size_t bytes() const;

 private:
  const std::int64_t* row(std::size_t i) const { return numbers_.data() + i * (unknowns_ + 1); }
  std::size_t rows() const { return numbers_.size() / (unknowns_ + 1); }
  std::size_t pivot(std::size_t i) const;
  bool add_large(const std::int64_t* vector, std::int64_t value, bool& fresh);
  bool insert(const std::int64_t* numbers, bool& fresh);

  std::size_t unknowns_;
  std::vector<std::int64_t> numbers_;  // by equation: v, r; by pivot
};

class LabelFit {
 public:
  static constexpr std::size_t kMostDimensions = Moves::kMostDimensions;

  explicit LabelFit(std::size_t dimensions) : dimensions_(static_cast<std::uint16_t>(dimensions)) {}
  /// If there are more dimensions than kMostDimensions, nothing will be known.
  void add_first(const std::int64_t* point, std::int64_t label);
  /// As if all points so far had been added, the last one with `label`: it is known that the label was value / divisor
  /// plus a constant, and which coordinates `varied` (as bits). Claims are true, but not all that could be made.
  void restart(std::int64_t label, const Affine& value, std::int64_t divisor, std::uint32_t varied);
  [[gnu::always_inline]] void add(const Move& move, std::int64_t label) {
    if (!claims_) return;
    std::int64_t difference = 0;
    const bool large = __builtin_sub_overflow(label, label_, &difference);
    label_ = label;
    if (large) {
      refute();
      return;
    }
    const std::size_t inner = ordered_ ? move.first : 0;
    if (first_ <= inner && !explained(inner, move, difference)) learn(inner, move, difference);
    if (prefixes_ != 0) follow_rows(move, difference);
  }
  /// add() for each of these moves; labels are `stride` apart. See adaptive_fit_rows.cc.
  void add_rows(const Moves& moves, const std::int64_t* labels, std::size_t stride);
  /// Whether add() of this label, and of any that comes by the same move with the same difference to the one before,
  /// would do no more than repeat() does.
  bool repeats(const Move& move, std::int64_t label, std::int64_t difference) const {
    std::int64_t first = 0;
    if (!claims_ || prefixes_ != 0 || __builtin_sub_overflow(label, label_, &first) || first != difference)
      return false;
    const std::size_t inner = ordered_ ? move.first : 0;
    return first_ > inner || explained(inner, move, difference);
  }
  void repeat(std::int64_t label) {
    if (claims_) label_ = label;
  }
  /// Points are no longer in order: only whether the label is affine can still be known.
  void unorder();
  /// Nothing can be known any more.
  void refute();
  bool refuted() const { return !claims_; }
  /// Rows that agree in so many dimensions, or fewer, are not compared any more.
  void forget_rows(std::size_t dimensions);
  /// Keeps only what is best now.
  void shrink();
  /// Sets value and top. `constant` says which dimensions have one coordinate in all points, `last` is the last point.
  void claim(const std::vector<bool>& constant, const std::vector<std::int64_t>& last, Output& into) const;
  std::size_t bytes() const;

 private:
  struct Prefix {
    std::uint64_t reference = 0;  // the hash of the first row
    bool complete = false;        // there was a first row
    std::int64_t label = 0;       // the first of the row
    std::int64_t step = 0;        // along the last dimension outside, if that alone changes, and what the label does
    std::int64_t jump = 0;
    Equations equations;
  };
  struct Claims {
    explicit Claims(std::size_t dimensions) : suffix(dimensions, Equations(dimensions)) {}
    std::vector<Equations> suffix;  // by dimension
    std::vector<Prefix> prefix;     // by dimension - 1
  };
  std::int64_t* numerators() { return ready_.data(); }
  std::int64_t* hashes() { return ready_.data() + dimensions_; }

  /// Whether the difference follows in the simplest way from those that suffix `inner` has to explain: all coefficients
  /// that it needs are determined by these. False does not say the contrary.
  bool explained(std::size_t inner, const Move& move, std::int64_t difference) const {
    const std::int64_t* numerators = ready_.data();
    Wide sum = 0;
    for (std::size_t k = move.first; k < dimensions_; ++k) {
      if (move.step[k] == 0) continue;
      if (known_until_[k] <= inner) return false;
      sum += static_cast<Wide>(numerators[k]) * move.step[k];
    }
    return sum == static_cast<Wide>(divisor_) * difference && move.first < dimensions_;
  }
  void learn(std::size_t inner, const Move& move, std::int64_t difference);
  bool add_to_suffixes(std::size_t inner, const std::int64_t* vector, std::int64_t value);
  void make_ready();
  /// Rows go on, or end and must have been like the first one.
  void follow_rows(const Move& move, std::int64_t difference) {
    const std::uint64_t here = move.hash + hash_of(dimensions_, difference);
    std::int64_t* const own = hashes();
    const std::uint32_t inside = (std::uint32_t{2} << move.first) - 1;
    for (std::uint32_t rest = prefixes_ & inside; rest != 0; rest &= rest - 1) {
      std::int64_t& hash = own[std::countr_zero(rest)];
      hash = static_cast<std::int64_t>(mixed(static_cast<std::uint64_t>(hash), here));
    }
    if ((prefixes_ & ~inside) != 0) start_rows(move, prefixes_ & ~inside);
  }
  [[gnu::always_inline]] inline bool explains(const Moves& moves, std::size_t i, std::int64_t difference) const;
  void learn_rows(const Moves& moves, const std::int64_t* differences);
  void follow_rows(const Moves& moves, const std::int64_t* labels, std::size_t stride, const std::int64_t* differences);
  void start_rows(const Move& move, std::uint32_t prefixes);
  bool start_row(std::size_t dimension, const Move& move);
  bool claim_affine(const std::vector<std::int64_t>& last, Output& into) const;
  bool claim_suffix(std::size_t suffix, Output& into) const;
  void claim_prefix(std::size_t suffix, Output& into) const;
  void refute_if_done();

  std::uint16_t dimensions_;
  std::uint16_t first_ = 0;  // suffix claims first_ .. D-1 hold
  bool ordered_ = true;
  std::uint32_t prefixes_ = 0;                               // those that hold, as bits
  std::int64_t label_ = 0;                                   // of the last point
  std::int64_t divisor_ = 1;                                 // of the coefficients of suffix first_
  std::array<std::uint8_t, kMostDimensions> known_until_{};  // by dimension: suffixes before this one determine it
  SmallArray<std::int64_t, 10> ready_;                       // coefficients, times divisor_; hashes of rows so far
  std::unique_ptr<Claims> claims_;                           // none if all are refuted
};

}  // namespace loopfold::fold::adaptive
