// The static side of the structure stage: graphs of what ran, their loops, and which functions are recursive.
#pragma once

#include <string>
#include <vector>

#include "structure/code_map.h"
#include "structure/control_flow.h"
#include "structure/loop_forest.h"
#include "structure/recursive_components.h"
#include "structure/splits.h"

namespace loopfold::structure {

struct Structure {
  CodeMap code;
  ControlFlow flow;
  std::vector<LoopForest> forests;                      // by function
  std::vector<std::vector<std::vector<NodeId>>> tests;  // by function and loop: see loop_names.h
  RecursiveComponents recursion;                        // of the call graph, whose nodes are functions
  std::string damage;                                   // one line if the trace could not be read to its end
  Splits splits{};                                      // loops that the walk counts by several levels
};

/// Pass 1 over the whole trace, and what follows from it. `reader` must outlive the result. `separate`: loops that
/// share a header are told apart (merged_loops.h).
Structure find_structure(const trace::Reader& reader, const FunctionFacts& facts, bool separate = true);

/// Forests and recursive components of a control flow. The test of a loop is its header, unless that jumps back: what
/// can be said without lines of the source.
void find_loops(Structure& structure);

}  // namespace loopfold::structure
