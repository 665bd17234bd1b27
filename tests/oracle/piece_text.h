// Folded streams in isl's language, written again here so that the oracle shares no code with what it checks.
//
// The first coordinate of points and producers, the number of the stack, is left out; it need not be 0.
#pragma once

#include <string>

#include "fold/fold.h"

namespace loopfold::oracle {

/// `{ NAME[i1, ...] : ...; ... }`.
std::string domain_text(const fold::Folded& folded, const std::string& name, std::size_t dimensions);

/// `{ FROM[o1, ...] -> TO[i1, ...] : ...; ... }`. Outputs with a TOP are bounded by minimum and maximum.
std::string map_text(const fold::Folded& folded, const std::string& from, std::size_t outputs, const std::string& to,
                     std::size_t dimensions);

/// `{ NAME[i1, ...] -> [o0, ...] }`: labels as functions of the point.
std::string label_text(const fold::Folded& folded, const std::string& name, std::size_t dimensions,
                       std::size_t outputs);

}  // namespace loopfold::oracle
