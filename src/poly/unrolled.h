// Bodies that are several iterations of the source, because a compiler has unrolled the loop: what goes between them.
//
// Copies of an instruction (repeats.h) are numbered by the order of their addresses: the first one is of the first
// iteration of the source in the body, and so on. A body is taken for unrolled if every store that stands in the loop
// itself is repeated, and there is one; of several copies of the loop, this may be one. Then two things go from an
// iteration of the source to another that the binary's loop does not carry:
// - What a copy of one instruction makes, and a copy of another number uses. Loads that can be repeated do not count,
//   from objects that the loop does not write.
// - What was there before the loop, and is used by a copy that is not the first, if the same operand gets in all later
//   iterations what an iteration before has loaded. The source's iterations have handed it on until then, as the start
//   of a window over an array: x = y; y = a[i + 2]. If it was loaded from an object that nothing has written since, it
//   can be loaded again, as the rest of the window; otherwise it is handed on indeed. What comes later is told by the
//   order of the code around the loop, so that writes on another way through it count, too.
//
// This can turn a verdict into `unknown`, never into `yes`. Cost: linear in the flow of the loop.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "poly/flow_index.h"
#include "poly/loop_values.h"
#include "structure/structure.h"

namespace loopfold::poly {

class Unrolled {
 public:
  /// `groups` as repeats() says; `chains`: by edge, what is part of a reduction. All must outlive it.
  Unrolled(const FlowIndex& index, const structure::Structure& structure, const LoopValues& values,
           const std::vector<std::uint32_t>& groups, const std::vector<bool>& chains);

  /// Whether the body looks like several iterations of the source.
  bool is_unrolled() const;

  /// Whether something goes from one copy of the body to another.
  bool copies_mix() const;

  /// Copies that are not the first, to which values from before the loop are handed on.
  std::vector<CodePoint> handed_to_copies() const;

 private:
  bool comes_from_before(const FlowEdge& later) const;
  bool is_rewritten(CodePoint load) const;
  std::uint32_t order_of(ddg::StatementId id) const;

  const FlowIndex& index_;
  const structure::Structure& structure_;
  const LoopValues& values_;
  const LoopFlow& flow_;
  const std::vector<std::uint32_t>& groups_;
  const std::vector<bool>& chains_;
  std::vector<std::size_t> copy_;                // by node: its number among its copies
  std::map<std::uint32_t, std::size_t> copies_;  // by group
};

}  // namespace loopfold::poly
