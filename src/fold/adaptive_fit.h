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
// Exact, but for collisions of the hash. Memory O(D^2) numbers per claim at most, none once all are refuted.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fold/fold.h"
#include "fold/fraction.h"
#include "support/wide.h"

namespace loopfold::fold::adaptive {

/// Linear equations sum v[k] * c[k] = r in unknown c, in reduced row echelon form.
class Equations {
 public:
  explicit Equations(std::size_t unknowns) : unknowns_(unknowns) {}
  /// Adds an equation; false if it contradicts the others, or its numbers got too large.
  bool add(const std::int64_t* vector, std::int64_t value);
  /// If the equation follows from those there are in the simplest way, a dot product. False does not say the contrary.
  bool explains(const std::int64_t* vector, std::int64_t value) const;
  /// Sets the first coefficients to a solution where unknowns that are not determined are 0; false if it does not fit.
  bool solve(Fraction& into) const;
  std::size_t bytes() const;

 private:
  struct Equation {
    std::size_t pivot = 0;
    std::vector<std::int64_t> vector;
    std::int64_t value = 0;
  };
  static bool eliminate(Equation& from, const Equation& by);
  static bool normalise(std::vector<Wide>& numbers, Equation& into);
  void find_determined();

  std::size_t unknowns_;
  std::vector<Equation> equations_;     // by pivot
  std::uint32_t determined_ = 0;        // unknowns with one integer solution
  std::vector<std::int64_t> solution_;  // of these
};

class LabelFit {
 public:
  explicit LabelFit(std::size_t dimensions) : dimensions_(dimensions) {}
  void add_first(const std::int64_t* point, std::int64_t label);
  /// `step` is the difference from the point before, `first` the number of its first coordinate that is not 0
  /// (dimensions if there is none).
  void add(const std::int64_t* point, const std::int64_t* step, std::size_t first, std::int64_t label);
  /// Points are no longer in order: only whether the label is affine can still be known.
  void unorder();
  /// Keeps only what is best now.
  void shrink();
  /// Sets value and top. `constant` says which dimensions have one coordinate in all points.
  void claim(const std::vector<bool>& constant, Output& into) const;
  std::size_t bytes() const;

 private:
  struct Prefix {
    std::size_t dimension = 0;
    std::uint64_t hash = 0;
    std::uint64_t reference = 0;  // the hash of the first row
    bool complete = false;        // there was a first row
    std::int64_t label = 0;       // the first of the row
    Equations equations;
  };
  struct Claims {
    std::size_t first = 0;          // suffix claims first .. D-1
    std::vector<Equations> suffix;  // by dimension
    std::vector<Prefix> prefix;     // that are not refuted
  };
  bool ends_equal(Prefix& prefix) const;
  bool claim_affine(Output& into) const;
  bool claim_suffix(std::size_t suffix, Output& into) const;
  void claim_prefix(std::size_t suffix, Output& into) const;
  void refute_if_done();

  std::size_t dimensions_;
  bool ordered_ = true;
  std::int64_t label_ = 0;                            // of the last point
  std::unique_ptr<std::vector<std::int64_t>> point_;  // the last one
  std::unique_ptr<Claims> claims_;                    // none if all are refuted
};

}  // namespace loopfold::fold::adaptive
