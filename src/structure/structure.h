// The static side of the structure stage: graphs of what ran, their loops, and which functions are recursive.
#pragma once

#include <string>
#include <vector>

#include "structure/code_map.h"
#include "structure/control_flow.h"
#include "structure/loop_forest.h"
#include "structure/recursive_components.h"

namespace loopfold::structure {

struct Structure {
  CodeMap code;
  ControlFlow flow;
  std::vector<LoopForest> forests;         // by function
  std::vector<std::vector<NodeId>> tests;  // by function and loop: where a test at the loop's top leaves it, see below
  RecursiveComponents recursion;           // of the call graph, whose nodes are functions
  std::string damage;                      // one line if the trace could not be read to its end
};

/// Pass 1 over the whole trace, and what follows from it. `reader` must outlive the result.
Structure find_structure(const trace::Reader& reader, const FunctionFacts& facts);

/// Forests, tests and recursive components of a control flow.
///
/// A loop with its test at the top (`while`, and any `for` that is not optimised) runs its header once more than its
/// body. The test is the header itself, or, if the condition calls functions, what the header goes on to in a straight
/// line: all of one source line. kNoNode for a loop whose test jumps back, since that is at its bottom.
void find_loops(Structure& structure, const FunctionFacts& facts);

}  // namespace loopfold::structure
