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
//
// Two loops in one: where nothing stands between the heads of an outer and an inner loop but what can be done on the
// way back, a compiler lets both go back to the same place, and the code has one loop with two ways back. So has a loop
// with `continue`, or with || in its condition, and the line table has no loops to tell them by. The order of the text
// does: the head of a loop stands before its body. A way back of an inner loop has the line of a head that is before
// the body, where the header is, and what comes after it in the iteration leads to a way back of an earlier line, the
// outer head's. `continue` stands behind what the body begins with; and of the parts of a condition the earlier ones
// are tested first. Exact as far as lines are; not found are `do` loops, whose condition is behind the body, heads in
// one line, and an inner loop that was inlined from another function.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

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

  /// Whether its ways back are those of two loops of the source, one inside the other.
  bool is_two_loops(FunctionId function, LoopId loop);

 private:
  symbols::LoopAddresses addresses(FunctionId function, LoopId loop) const;
  int line_in(const symbols::LoopSource& loop, std::uint64_t address) const;
  std::vector<bool> behind(FunctionId function, LoopId loop, NodeId block) const;
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
