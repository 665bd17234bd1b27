// Which branch has decided that control is where it is, followed as the program runs.
//
// Of every frame a list of branches that are open is kept, innermost last: a branch opens when it has run, and closes
// when control comes to the place where its ways meet again, its immediate post-dominator in the graph of its function
// (as it ran). Whatever runs meanwhile depends on it; on the innermost one directly, on the others by way of that. A
// branch that meets where an open one does takes its place, having depended on it itself. So the test of a loop
// decides over everything up to the loop's end: the iterations behind it included.
//
// What one way comes to in this iteration, and the other one only in a later iteration, depends on the branch, too. So
// post-dominators are those of one iteration, of the innermost loop around the branch; if its ways do not meet there,
// of the loop around that, and so on. If they then meet inside a loop in whose single iterations they do not, the
// branch is open to the end of the iteration.
//
// What runs in a frame with no open branch depends on what its call depended on; and on the call itself, if that called
// different functions at different times.
//
// Exact for frames that are left by returning. After longjmp, exceptions and the like, control goes on in a frame with
// the branches that were open there. The branches that made control leave are not known to decide what follows.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "structure/control_dependence.h"
#include "structure/structure.h"
#include "verify/iterations.h"
#include "verify/values.h"

namespace loopfold::verify {

/// A branch at one time.
struct Decision {
  NodeIndex branch = kNoNodeIndex;  // none: nothing decided
  IterationId iteration = kNoIteration;
  NeedsId needs = kNoNeeds;  // to be decided anew
};

/// What tells one frame from another.
struct FrameId {
  structure::FunctionId function = structure::kNoFunction;
  std::uint64_t activation = 0;
  friend bool operator==(const FrameId&, const FrameId&) = default;
};

/// Of all stacks. Decisions hold references to iterations.
class Decisions {
 public:
  Decisions(const structure::Structure& structure, Iterations& iterations);
  ~Decisions();
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;

  /// Control comes to a node of the youngest of `depth` frames. Says what decided that.
  Decision arrive(std::uint64_t stack, std::size_t depth, FrameId frame, structure::NodeId node);
  /// What decided what is running, or ran last.
  Decision current(std::uint64_t stack) const;
  /// What was arrived at last has run; `last` is its last instruction.
  void depart(std::uint64_t stack, NodeIndex last, IterationId iteration, NeedsId needs);
  /// The youngest of `depth` frames is left.
  void leave(std::uint64_t stack, std::size_t depth);
  void end(std::uint64_t stack);

 private:
  /// What a branch decides over.
  struct Extent {
    bool decides = false;
    structure::NodeId join = structure::kNoNode;   // up to here
    structure::LoopId loop = structure::kNoLoop;   // or to the end of the iteration of this loop
    friend bool operator==(const Extent&, const Extent&) = default;
  };
  struct Open {
    Decision decision;
    Extent extent;
  };
  struct Frame {
    FrameId id;
    Decision call;  // what decided that it was called
    std::vector<Open> open;
    structure::NodeId node = structure::kNoNode;
    Decision last;  // what ran last in it
  };
  using Stack = std::vector<Frame>;

  const Extent& extent(structure::FunctionId function, structure::NodeId node);
  Extent find_extent(structure::FunctionId function, structure::NodeId node);
  const structure::PostDominators& post_dominators(structure::FunctionId function, structure::LoopId loop);
  template <class Condition>
  void close(Frame& frame, const Condition& condition);
  Decision innermost(const Frame& frame) const { return frame.open.empty() ? frame.call : frame.open.back().decision; }
  Decision decision_of_call(const Frame& caller) const;
  void keep(const Decision& decision) {
    if (decision.iteration != kNoIteration) iterations_.keep(decision.iteration);
  }
  void drop(Decision& decision) {
    iterations_.drop(decision.iteration);
    decision = {};
  }
  void drop(Frame& frame);

  const structure::Structure& structure_;
  Iterations& iterations_;
  /// By function and loop: of one iteration; kNoLoop: of the whole function.
  std::unordered_map<std::uint64_t, structure::PostDominators> post_dominators_;
  std::unordered_map<std::uint64_t, Extent> extents_;  // by function and node
  std::unordered_set<std::uint64_t> varied_;  // (function, node) of calls of several functions
  std::unordered_map<std::uint64_t, Stack> stacks_;
};

}  // namespace loopfold::verify
