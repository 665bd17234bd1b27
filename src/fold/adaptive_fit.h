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
// Exact, but for collisions of the hash. The cost per point, once its kind is known, is a dot product over the
// coordinates that changed and a multiplication per prefix that still may hold; nothing once all claims are refuted.
// Memory O(D^2) numbers per claim at most, none then.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

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
};

/// Linear equations sum v[k] * c[k] = r in unknown c, in reduced row echelon form.
class Equations {
 public:
  explicit Equations(std::size_t unknowns) : unknowns_(unknowns) {}
  /// Adds an equation; false if it contradicts the others, or its numbers got too large.
  bool add(const std::int64_t* vector, std::int64_t value);
  /// Sets the first coefficients to a solution where unknowns that are not determined are 0; false if it does not fit.
  bool solve(Fraction& into) const;
  /// Unknowns that have one value, as bits; `numerators` gets these values, over the divisor.
  std::uint32_t determined(std::int64_t* numerators, std::int64_t& divisor) const;
  std::size_t bytes() const;

 private:
  const std::int64_t* row(std::size_t i) const { return numbers_.data() + i * (unknowns_ + 1); }
  std::size_t rows() const { return numbers_.size() / (unknowns_ + 1); }
  std::size_t pivot(std::size_t i) const;

  std::size_t unknowns_;
  std::vector<std::int64_t> numbers_;  // by equation: v, r; by pivot
};

/// The part of the solution of equations that is unique, for looking at many vectors quickly.
struct Solution {
  std::uint32_t determined = 0;  // unknowns, as bits
  std::int64_t divisor = 1;

  /// If the equation follows from those there are in the simplest way. False does not say the contrary.
  bool explains(const std::int64_t* numerators, const std::int64_t* vector, std::size_t from, std::size_t to,
                std::int64_t value) const {
    Wide sum = 0;
    for (std::size_t k = from; k < to; ++k) {
      if (vector[k] == 0) continue;
      if ((determined >> k & 1) == 0) return false;
      sum += static_cast<Wide>(numerators[k]) * vector[k];
    }
    return sum == static_cast<Wide>(divisor) * value;
  }
};

class LabelFit {
 public:
  explicit LabelFit(std::size_t dimensions) : dimensions_(static_cast<std::uint16_t>(dimensions)) {}
  void add_first(const std::int64_t* point, std::int64_t label);
  void add(const Move& move, std::int64_t label) {
    if (!claims_) return;
    std::int64_t difference = 0;
    const bool large = __builtin_sub_overflow(label, label_, &difference);
    label_ = label;
    if (large) {
      claims_.reset();
      return;
    }
    const std::size_t inner = ordered_ ? move.first : 0;
    if (first_ <= inner && !explained(inner, move, difference)) learn(inner, move, difference);
    if (prefixes_ != 0) follow_rows(move, difference);
  }
  /// Points are no longer in order: only whether the label is affine can still be known.
  void unorder();
  /// Nothing can be known any more.
  void refute() { claims_.reset(); }
  /// Keeps only what is best now.
  void shrink();
  /// Sets value and top. `constant` says which dimensions have one coordinate in all points, `last` is the last point.
  void claim(const std::vector<bool>& constant, const std::int64_t* last, Output& into) const;
  std::size_t bytes() const;

 private:
  struct Suffix {
    Solution solution;
    Equations equations;
  };
  struct Prefix {
    std::uint64_t hash = 0;
    std::uint64_t reference = 0;  // the hash of the first row
    bool complete = false;        // there was a first row
    std::int64_t label = 0;       // the first of the row
    Solution solution;
    Equations equations;
  };
  struct Claims {
    std::vector<Suffix> suffix;            // by dimension
    std::vector<Prefix> prefix;            // by dimension - 1
    std::vector<std::int64_t> numerators;  // of the solutions: suffixes, then prefixes
  };
  std::int64_t* numerators(std::size_t claim) const { return claims_->numerators.data() + claim * dimensions_; }
  bool explained(std::size_t inner, const Move& move, std::int64_t difference) const {
    return move.first < dimensions_ &&
           claims_->suffix[inner].solution.explains(numerators(inner), move.step, move.first, dimensions_, difference);
  }
  void learn(std::size_t inner, const Move& move, std::int64_t difference);
  void follow_rows(const Move& move, std::int64_t difference);
  bool start_row(std::size_t dimension, const Move& move);
  bool claim_affine(const std::int64_t* last, Output& into) const;
  bool claim_suffix(std::size_t suffix, Output& into) const;
  void claim_prefix(std::size_t suffix, Output& into) const;
  void refute_if_done();

  std::uint16_t dimensions_;
  std::uint16_t first_ = 0;  // suffix claims first_ .. D-1 hold
  bool ordered_ = true;
  std::uint32_t prefixes_ = 0;      // those that hold, as bits
  std::int64_t label_ = 0;          // of the last point
  std::unique_ptr<Claims> claims_;  // none if all are refuted
};

/// Of a difference of points: the sum over its coordinates of this, plus `first`.
std::uint64_t hash_of(std::size_t dimension, std::int64_t number);

}  // namespace loopfold::fold::adaptive
