// Work of a loop's body that the compiler does outside of the loop.
//
// The binary's loop is judged, the source's loop is changed. A compiler takes stores out whose place does not change
// (`cnt++`, `o[0] = ...` become one store behind the loop), does what only the first iteration does before the loop,
// and computes last values behind it (`k += 3` becomes k = 5 + 3 * n, `t = a[i] + 1` becomes t = a[n - 1] + 1). None of
// that is seen by a verdict, and whoever puts a pragma on the loop brings all of it back into the iterations. So a loop
// with such work is in doubt: it may need a clause that nobody can name, or carry what the binary does not.
//
// Code outside of the loop, in a line of its body, counts if
// - it stores, and nothing in the loop stores for the same place in the source: if something does, it is an iteration
//   that stands beside the loop (poly/taken_out.h). What has lost its line has that of the head, behind the loop. A
//   slot of the frame counts only if code that is not of the body reads it: others are spills;
// - it is behind the loop and computes something that code which is not of the loop uses. Clang gives such values the
//   line of the loop's head.
// But not what belongs to a value that the loop computes in the same line, or reduces: `*p += a[i]`, kept in a
// register, is stored behind the loop, and the lanes of a vector are added up there. Such values are asked about
// elsewhere (loop_reuse.h). What is computed before the loop, once for all iterations, is the same in each of them.
//
// A loop in which nothing is left but counting has lost all of its work, wherever that has gone: as in doubt.
//
// Where the body ends is taken from the text of the source, if it is where it was compiled; else it is the last line of
// what runs in the loop. Code that was inlined has the line of its call. Cost: linear in the function's instructions,
// for each loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/liveness/value_ways.h"
#include "advise/liveness/variables.h"
#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/region_flow.h"
#include "profile/profile.h"
#include "symbols/loop_heads.h"

namespace loopfold::advise::liveness {

/// How Loop::reuse_why begins where there is such work, and where nothing else is left.
inline constexpr std::string_view kMovedWork = "the compiler does work of line";
inline constexpr std::string_view kNothingLeft = "the compiler has left nothing in the loop of line";

class MovedWork {
 public:
  MovedWork(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow, const ValueWays& ways,
            Locals& locals);

  /// Why the loop is in doubt; empty if it is not. `head` is the line of the loop, which is inside so many others that
  /// have the same.
  std::string find(const poly::FlowOfLoop& loop, const Inside& inside, const profile::Source& head, std::size_t around);

 private:
  const symbols::LoopHeads& heads_of(const std::string& path);

  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::RegionFlow& flow_;
  const ValueWays& ways_;
  Locals& locals_;
  std::vector<std::vector<ddg::StatementId>> of_function_;
  std::map<std::string, std::unique_ptr<symbols::LoopHeads>> heads_;  // by path
};

}  // namespace loopfold::advise::liveness
