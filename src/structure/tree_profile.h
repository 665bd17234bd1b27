// From contexts to what a person reads: the loop tree in source terms, as a profile's program, quality and tree.
//
// Loops are named by the line of their header in the source (symbols/loop_source.h), functions by their demangled
// names. Stubs of the procedure linkage table are left out: their instructions count for what they jump to. Children
// are in the order of their static index. Names are looked up once per function and loop, not per context.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "structure/loop_names.h"
#include "structure/loop_tree.h"
#include "structure/structure.h"
#include "symbols/symbolizer.h"
#include "trace/reader.h"

namespace loopfold::structure {

/// `threads`: that ran. `nodes`, if given, becomes the id of the node that shows a context, by context: for a stub that
/// of the function behind it which has its instructions.
profile::Profile describe(const trace::Reader& reader, const Structure& structure, const LoopTree& tree,
                          std::uint64_t threads, LoopNames& names, symbols::Symbolizer& symbolizer,
                          std::vector<std::uint32_t>* nodes = nullptr);

}  // namespace loopfold::structure
