// Which contexts are worth statements of their own, where there are more than a person or a machine can use.
//
// Every context of a function has its own statements. A program that calls the same code from very many places (an
// interpreter, a database) has hundreds of thousands of them, nearly all of which ran a few times. Above a limit, the
// contexts in which most instructions ran are kept; of the others it is only followed what they write. Exact for what
// is kept; what is left out is counted, and named in Graph::gave_up.
#pragma once

#include <cstdint>
#include <vector>

#include "structure/loop_tree.h"
#include "structure/structure.h"

namespace loopfold::ddg {

/// By context: is it kept? Empty if all are. `tree` has the instructions of every context.
std::vector<bool> hot_contexts(const structure::Structure& structure, const structure::LoopTree& tree,
                               std::uint64_t max_statements);

/// About how many statements there will be if all contexts are kept, before anything is known of contexts: as if all
/// calls that were made in some context were made in all. Functions that call each other in circles are counted once.
std::uint64_t expected_statements(const structure::Structure& structure);

}  // namespace loopfold::ddg
