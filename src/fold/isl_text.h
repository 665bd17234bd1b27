// Folded streams as text that isl reads.
//
// A domain is a union of basic sets over named dimensions, `{ S3[i0, i1] : 0 <= i0 <= 9 and 0 <= i1 <= i0; ... }`; a
// dependence is a map from producer to consumer, `{ S1[o0] -> S3[i0, i1] : o0 = i0 and ... }`. Strides and moduli are
// written with existential variables or mod, as isl writes them. Exact where the piece is. An output with a TOP is
// written with what was measured, and nothing else (docs/design.md): minimum <= output <= maximum, the bounds of the
// distance, and, in a dependence, that the producer comes before the consumer in lexicographic order of the shared
// coordinates.
#pragma once

#include <span>
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
