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
// Lines that a compiler has lost: if no instruction has the line of a loop's head, its name is a line of its body, or
// that of an inner loop, whose first test GCC makes that of the loop around it. If the source can be read
// (symbols/loop_heads.h), a line that is no head's becomes that of a loop which it is in, counted from the outside,
// since it is inner loops that are unrolled until nothing is left of them; a loop that does things by itself which are
// written outside of the loop of its line, but in the one around that, is the one around; and of loops inside each
// other with one line, of which the source has fewer there, the outer ones get those of the loops around. Nothing is
// changed if a loop further out has the new line already: then this one is a part of another kind. Only what is shown
// changes; which loops are one is a matter of the line table (poly/source_loops.h).
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
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "structure/structure.h"
#include "symbols/loop_heads.h"
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
  static std::uint64_t key(FunctionId function, LoopId loop) { return std::uint64_t{function} << 32 | loop; }
  const std::optional<symbols::LoopSource>& by_lines(FunctionId function, LoopId loop);
  std::optional<symbols::LoopSource> by_text(FunctionId function, LoopId loop);
  std::optional<int> around_inner(FunctionId function, LoopId loop, const symbols::LoopSource& source);
  std::size_t alike_inside(FunctionId function, LoopId loop);
  const std::optional<symbols::LoopSource>& by_head(FunctionId function, LoopId loop);
  bool is_around(FunctionId function, LoopId loop, int line);
  std::size_t loops_around(FunctionId function, LoopId loop);
  std::vector<LoopId> loops_inside(FunctionId function, LoopId loop) const;
  bool is_loop_around(FunctionId function, LoopId loop, const symbols::LoopSource& source, int line);
  const symbols::LoopHeads& heads_of(FunctionId function, LoopId loop);
  symbols::LoopAddresses addresses(FunctionId function, LoopId loop) const;
  int line_in(const symbols::LoopSource& loop, std::uint64_t address) const;
  std::vector<bool> behind(FunctionId function, LoopId loop, NodeId block) const;
  NodeId closing(FunctionId function, LoopId loop, NodeId latch) const;
  bool leaves(FunctionId function, LoopId loop, NodeId node) const;
  bool is_in_line_of_inner(FunctionId function, LoopId loop, std::uint64_t address) const;

  const Structure& structure_;
  symbols::Symbolizer& symbolizer_;
  std::unordered_map<std::uint64_t, LoopName> names_;
  std::unordered_map<std::uint64_t, std::optional<symbols::LoopSource>> by_lines_;
  std::unordered_map<std::uint64_t, std::optional<symbols::LoopSource>> by_head_;
  std::unordered_map<std::string, std::unique_ptr<symbols::LoopHeads>> heads_;  // by path
};

/// Fills in structure.tests from the lines of the source.
void find_tests(Structure& structure, LoopNames& names, symbols::Symbolizer& symbolizer);

}  // namespace loopfold::structure
