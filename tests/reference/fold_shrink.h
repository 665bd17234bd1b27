// From a random stream that goes wrong to a small one that still does, and to text that can be pasted into a test.
//
// shrink() takes away points (in halves, quarters ... one by one), outputs, dimensions that are the same at all points,
// and makes labels and coordinates smaller, as long as `fails` stays true. A few thousand calls of `fails` at most.
#pragma once

#include <functional>
#include <string>

#include "reference/fold_reference.h"

namespace loopfold::fold::reference {

using Fails = std::function<bool(const Stream&)>;

Stream shrink(Stream stream, const Fails& fails);

/// `{{2, 1, 0}, {{{0, 0}, {67}}, {{0, 1}, {71}}}, "what"}`: the initializer of a Stream.
std::string literal(const Stream& stream);

}  // namespace loopfold::fold::reference
