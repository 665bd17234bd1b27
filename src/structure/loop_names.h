// Which loop of the source each loop of the code is, and where a loop is left by a test at its top.
//
// Names come from the line table (symbols/loop_source.h), once per loop of a function, not per context.
//
// A loop with its test at the top (`while`, and any `for` that is not optimised) runs its header once more than its
// body: the last time, the header only finds that it is over. So trips are iterations without those that leave from
// such a test. Where lines are known, a test is what the header comes to while it is in the line of the loop: the
// header itself, what stands behind calls in the condition, and the further tests of && and ||. In a loop that is all
// in one line it is what the header comes to in a straight line. Where lines are not known, it is the header. A block
// that jumps back is never a test at the top, and nor is one that ends with a call: a loop left there is left by an
// exception or longjmp.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "structure/structure.h"
#include "symbols/loop_source.h"
#include "symbols/symbolizer.h"

namespace loopfold::structure {

struct LoopName {
  std::optional<symbols::LoopSource> source;
  std::uint32_t depth = 0;  // among the loops of the source in its function, itself included
};

class LoopNames {
 public:
  /// Both must outlive it.
  LoopNames(const Structure& structure, symbols::Symbolizer& symbolizer)
      : structure_(structure), symbolizer_(symbolizer) {}

  const LoopName& of(FunctionId function, LoopId loop);

 private:
  symbols::LoopAddresses addresses(FunctionId function, LoopId loop) const;
  NodeId closing(FunctionId function, LoopId loop, NodeId latch) const;
  bool leaves(FunctionId function, LoopId loop, NodeId node) const;
  bool is_in_line_of_inner(FunctionId function, LoopId loop, std::uint64_t address) const;

  const Structure& structure_;
  symbols::Symbolizer& symbolizer_;
  std::unordered_map<std::uint64_t, LoopName> names_;
};

/// Fills in structure.tests from the lines of the source.
void find_tests(Structure& structure, LoopNames& names, symbols::Symbolizer& symbolizer);

}  // namespace loopfold::structure
