// Do numeric iteration vectors increase? The contract that everything behind the structure stage relies on.
//
// Walks the trace event by event, and compares the vector of every part that ran with that of the part before it on the
// same stack. Walks it again run by run, and compares the two loop trees. Exact, and slow: a vector is built for every
// part.
#pragma once

#include <cstdint>
#include <string>

#include "structure/structure.h"
#include "trace/reader.h"

namespace loopfold::structure {

struct VectorCheck {
  std::uint64_t parts = 0;   // that ran
  std::uint64_t stacks = 0;  // threads, handlers and coroutines
  std::string problem;       // empty if all is well
};

VectorCheck check_vectors(const trace::Reader& reader, const Structure& structure);

}  // namespace loopfold::structure
