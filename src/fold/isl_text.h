// Folded streams as text that isl reads.
//
// A domain is a union of basic sets over named dimensions, `{ S3[i0, i1] : 0 <= i0 <= 9 and 0 <= i1 <= i0; ... }`; a
// dependence is a map from producer to consumer, `{ S1[o0, i1] -> S3[i0, i1] : o0 = i0 - 1 and ... }`. Exact where the
// piece is.
//
// Format. i0, i1 ... are the coordinates of the point that are shown, o0, o1 ... those of the producer; a hidden
// coordinate is the quantified variable h. A coordinate that is the same number in the whole piece stands as that
// number in the vector, `S3[0, i1]`; a coordinate of the producer that is one of the consumer's has its name. In
// straight-line code, of which large programs mostly consist, nothing else is left. Pieces are separated by `; `. Of
// one piece, in this order, joined by ` and `:
// - of each coordinate: `lower <= i1 <= upper`, or `i1 = value`; with a stride, `i1 mod 2 = 1` or
//   `(i1 - i0) mod 2 = 0` behind it. isl's mod is never negative.
// - of each output: `o0 = value`; with a divisor, `3o0 = value`; if it is modular, `o0 = base + (value - base) mod
//   modulus`, all of it times the divisor; with a TOP what was measured, and nothing else: `minimum <= o0 <= maximum`
//   and, for a shared coordinate, the bounds of the distance, `1 <= i0 - o0 <= 4` (left out where it does not fit into
//   64 bits).
// - if an output that is a shared coordinate has a TOP: that the producer comes before the consumer in lexicographic
//   order of the shared coordinates. That is a union, so such a piece is written once per level that may carry it,
//   `o0 = i0 and o1 < i1`, and once for all being equal, if they may be. Levels that the distances exclude are left
//   out. An exact piece needs none of this.
#pragma once

#include <string>
#include <string_view>

#include "fold/fold.h"

namespace loopfold::fold {

struct TextOptions {
  /// The first coordinate is left out of every vector; it must be 0 in all points (and producers, where they have it).
  bool drop_first_in = false;
  bool drop_first_out = false;
  /// The last coordinate of the points is not shown: it is existentially quantified.
  bool hide_last_in = false;
  /// Dependences: producer and consumer may be one instance (different instructions of it): lexicographic order is <=.
  bool may_be_equal = true;
};

/// `{ NAME[i0, ...] : ... }`; `{ }` for no pieces.
std::string domain_text(const Folded& folded, std::string_view name, const TextOptions& options = {});

/// `{ FROM[o0, ...] -> TO[i0, ...] : ... }` of a dependence stream.
std::string dependence_text(const Folded& folded, Shape shape, std::string_view from, std::string_view to,
                            const TextOptions& options = {});

}  // namespace loopfold::fold
