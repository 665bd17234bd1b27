// Φ: where each element of an array goes (papers: array-based layouts, one map per array).
//
// A Phi maps an array's elements to logical address vectors; the order of elements in memory is the lexicographic order
// of their vectors. Arrays whose vectors share a prefix are interleaved there:
//
//     C[e1, e2] -> [0, e1/32, e2/64, e1%32, e2%64]     tiled, before everything else
//     A[e1, e2] -> [1, e2, 0, e1]                      permuted, and row by row
//     B[e1, e2] -> [1, e1, 1, e2]                      fused with B: column e2 of A, row e2 of B, column e2+1 of A ...
//
// Layouts come from a directive (directive.h), or are built by whoever searches for one, with the constructors below:
// every function takes a layout and gives a new one, so candidates are values that can be compared and kept.
//
// A layout of arrays is legal if it is one-to-one: no two elements, of one array or of two, have the same vector. That
// is proved by isl for all sizes of the program at once (for all that agree with `known`), exactly: `no` comes with two
// elements that collide, `unknown` only if the budget was used up. Cost: a few milliseconds for maps of five
// dimensions.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "advise/layout/directive.h"
#include "advise/layout/quasi_affine.h"
#include "poly/isl.h"
#include "support/result.h"

namespace loopfold::layout {

/// Bytes as on this machine: what mixed element types are aligned by.
struct ElementType {
  std::string name = "double";
  std::int64_t size = 8;
  std::int64_t alignment = 8;
  bool operator==(const ElementType&) const = default;
};

struct Phi {
  std::string array;
  std::string field;                 // of an array of structures; else empty
  std::vector<std::string> indices;  // names, one for each dimension of the array
  std::vector<QuasiAffine> extents;  // affine in names of the program
  ElementType element;
  std::vector<QuasiAffine> target;
  std::vector<std::int64_t> padding;  // unused cells behind each dimension of the target

  /// "A", "P.x".
  std::string label() const { return field.empty() ? array : array + "." + field; }
  /// The same as one C name: "A", "P_x".
  std::string identifier() const;
  /// Sizes that it speaks of.
  std::set<std::string> parameters() const;
};

/// Sizes whose values are known (a macro, a constant of the program).
using Known = std::map<std::string, std::int64_t>;

/// What a map clause says. The element's size and alignment are those of the C types of this machine where the name is
/// one, else they are to be set by the caller.
Phi phi_of(const MapClause& clause);

// ---- building layouts ----

/// The array as C has it, row by row.
Phi identity(std::string array, std::vector<QuasiAffine> extents, ElementType element = {});
/// Dimension i of the new target is dimension order[i] of the old one.
Phi permuted(Phi phi, const std::vector<std::size_t>& order);
/// Each given dimension d of the target becomes d / sizes and, behind all dimensions, d % size.
Phi tiled(Phi phi, const std::vector<std::pair<std::size_t, std::int64_t>>& dimensions);
/// Dimension `of` becomes itself plus factor times dimension `by`.
Phi skewed(Phi phi, std::size_t of, std::size_t by, std::int64_t factor);
Phi padded(Phi phi, std::size_t dimension, std::int64_t cells);
/// The constant `place` in front of dimension `at`.
Phi placed(Phi phi, std::size_t at, std::int64_t place);
/// The arrays share their first `shared` dimensions and are told apart behind them: 0 is fully apart, one after the
/// other (structure of arrays); all dimensions is an array of structures.
std::vector<Phi> fused(std::vector<Phi> phis, std::size_t shared);

// ---- as isl objects, and proofs ----

/// { A[e1, e2] -> [...] : the element exists and sizes are as known }.
poly::Isl<isl_map> isl_map_of(isl_ctx* context, const Phi& phi, const Known& known = {});
/// The same as text, with the expressions as they are written.
std::string isl_text_of(const Phi& phi, const Known& known = {});
/// The sizes for which every array has an element.
poly::Isl<isl_set> sizes_context(isl_ctx* context, const std::vector<Phi>& phis, const Known& known = {});
/// The expression is >= 0 for every element. False also if that is not known.
bool never_negative(isl_ctx* context, const Phi& phi, const QuasiAffine& expression, const Known& known = {});

enum class Answer { kYes, kNo, kUnknown };

struct Proof {
  Answer answer = Answer::kUnknown;
  std::string why;  // of kNo: "A[0][1] and A[4][0] both go to [4], for example with n = 5"; of kUnknown: the reason
};

/// Are the layouts together one-to-one?
Proof one_to_one(isl_ctx* context, const std::vector<Phi>& phis, const Known& known = {});

/// How many operations of isl a proof may take, and the net behind it.
constexpr std::uint64_t kProofOperations = 20'000'000;
constexpr std::chrono::milliseconds kProofNet{60'000};

}  // namespace loopfold::layout
