// Is a folded stream what fold/fold.h promises of it, for these points?
//
// Regeneration: all pieces with an exact domain are enumerated, and must be points of the stream, each in one piece and
// as many as the piece says; what is left must lie in the pieces with inexact domains. Every claim about labels is
// tested on every point of the piece: the value of an affine output, the bounds, the distances, and for an output with
// TOP the difference between points that agree in the TOP dimensions. Enumeration stops as soon as there are more
// points than the stream has, so the cost is that of sorting the points.
#pragma once

#include <cstddef>
#include <string>

#include "ddg_reference.h"
#include "fold/fold.h"

namespace loopfold::reference {

/// One line, or nothing if all is well. `shared` is Shape::shared.
std::string check_folded(const fold::Folded& folded, const Points& points, std::size_t shared);

}  // namespace loopfold::reference
