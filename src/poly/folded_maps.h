// Folded streams as isl objects, without the way through text.
//
// What fold/isl_text.h writes and isl would read again, with exactly that meaning, options and all: a piece becomes a
// system of linear rows, and that a basic set or map. Strides, moduli and a hidden coordinate are quantified variables
// of the system. Reading a piece from text costs isl thousands of operations, this some dozens.
//
// Systems are plain numbers: two streams that read the same have equal ones, so what was built already is found without
// asking isl.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fold/fold.h"
#include "fold/isl_text.h"
#include "poly/isl.h"
#include "support/wide.h"

namespace loopfold::poly {

/// Rows one behind the other: the constant, the producer's coordinates that are shown, the point's, the quantified
/// ones.
struct LinearPiece {
  std::vector<Wide> equalities;    // row = 0
  std::vector<Wide> inequalities;  // row >= 0
  std::size_t quantified = 0;      // variables
  friend bool operator==(const LinearPiece&, const LinearPiece&) = default;
  friend auto operator<=>(const LinearPiece&, const LinearPiece&) = default;
};

/// A union of pieces.
struct LinearPieces {
  std::size_t producer = 0;  // coordinates that are shown
  std::size_t point = 0;
  std::vector<LinearPiece> all;
  bool empty() const { return all.empty(); }
  friend bool operator==(const LinearPieces&, const LinearPieces&) = default;
  friend auto operator<=>(const LinearPieces&, const LinearPieces&) = default;
};

/// As fold::domain_text and fold::dependence_text. All pieces must have all coordinates of the points.
LinearPieces domain_pieces(const fold::Folded& folded, const fold::TextOptions& options = {});
LinearPieces dependence_pieces(const fold::Folded& folded, fold::Shape shape, const fold::TextOptions& options = {});

/// The pairs that agree in the first coordinates, without those of the producer.
LinearPieces with_equal_first(LinearPieces pieces, std::size_t count);

/// An empty name is none. Null, and an error, if there are no pieces: then the space is not known.
Isl<isl_set> set_of(isl_ctx* isl, const LinearPieces& pieces, const std::string& name);
Isl<isl_map> map_of(isl_ctx* isl, const LinearPieces& pieces, const std::string& from, const std::string& to);

}  // namespace loopfold::poly
