// What can be said of each loop as it is: may its iterations run in any order, in this run?
//
// A loop is parallel if no flow of values and no decision goes from one of its iterations to another one. What a binary
// carries from iteration to iteration for its own purposes does not count: induction variables, which every iteration
// can compute for itself; registers that are saved, restored and moved around; elements that were loaded one iteration
// ago and can be loaded again. The rules are those of the dependence graph's design (docs/design.md); whatever cannot
// be decided by them is `unknown`, never `yes`.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ddg/graph.h"
#include "poly/loop_flow.h"
#include "structure/loop_tree.h"
#include "structure/structure.h"
#include "symbols/symbolizer.h"

namespace loopfold::poly {

enum class Parallel : std::uint8_t { kYes, kReduction, kUnknown, kNo };  // the worse, the later

/// Something that the loop carries from one iteration to another.
struct Blocking {
  enum class Kind : std::uint8_t {
    kRegister,
    kMemory,
    kEnvironment,
    kExit,  // data decide whether there is a next iteration: `from` is the branch
    kTurn,  // a copy hands on values from before the loop in turns: t = a; a = b; b = t
  };
  Kind kind = Kind::kRegister;
  CodePoint from;
  CodePoint to;
  ddg::ObjectId object = ddg::kUnknownObject;  // kMemory, kEnvironment
  std::int64_t least = 0;                      // distance, in iterations of the loop; both 0: not known
  std::int64_t greatest = 0;
  std::uint64_t count = 0;  // instances
};

struct Reduction {
  trace::Associative operation = trace::Associative::kNone;
  bool floating = false;                       // another order may give another result
  bool array = false;                          // many variables: an update of bins[x]
  CodePoint at;                                // the operation
  ddg::ObjectId object = ddg::kUnknownObject;  // where the variable is, if it is in memory
  bool in_memory = false;
  bool partly = false;  // in memory: the loop uses other parts of the object, too
};

/// Why a loop cannot be judged.
struct Doubt {
  std::string why;  // a short phrase
  CodePoint at;     // if known
  std::uint64_t count = 0;
};

/// Loops of the binary that are one loop of the source: siblings in the loop tree.
struct SourceLoop {
  std::vector<structure::ContextId> loops;  // contexts of kind kLoop, at least one
  /// If it is what is left of a loop, in an iteration of the loop around that one that stands beside it: a context of
  /// it.
  structure::ContextId left_from = structure::kNoContext;
};

struct LoopVerdict {
  SourceLoop loop;
  Parallel parallel = Parallel::kUnknown;
  std::vector<Blocking> blocking;  // most instances first
  std::vector<Reduction> reductions;
  std::vector<CodePoint> reload;   // loads whose values are used by later iterations, and can be repeated
  std::vector<CodePoint> assumes;  // branches on data that always went one way
  std::vector<Doubt> doubts;
};

class Control;
class LoopValues;
struct WholeLoop;

/// A flow that the loop carries and that a new order of its iterations must keep: an edge of its LoopFlow.
struct KeptEdge {
  enum class Why : std::uint8_t { kBlocking, kReduction, kTurn };
  std::uint32_t edge = 0;
  Why why = Why::kBlocking;
  trace::Associative operation = trace::Associative::kNone;  // of a reduction
};

/// A loop that was just judged, with all that was looked at.
struct JudgedLoop {
  const LoopVerdict& verdict;
  const LoopValues& values;
  const Control& control;
  std::span<const KeptEdge> kept;
};

struct VerdictOptions {
  /// Calls of these functions (contexts) may be reordered: what they do to each other is of no account.
  std::vector<bool> pure;  // by context: it is a call of such a function, or inside one; may be empty
  /// For source positions: without it, loops that were unrolled are not told from others.
  symbols::Symbolizer* symbolizer = nullptr;
  /// Told of every loop, one after the other.
  std::function<void(const JudgedLoop&)> on_loop;
  /// Of a level of a loop that is split: what is known of the whole (whole_loop.h), or none. May be empty.
  std::function<const WholeLoop*(const SourceLoop&)> whole;
  unsigned jobs = 1;
};

/// One verdict per loop, in their order.
std::vector<LoopVerdict> judge(const ddg::Graph& graph, const structure::Structure& structure,
                               const structure::LoopTree& tree, std::span<const SourceLoop> loops,
                               const VerdictOptions& options);

}  // namespace loopfold::poly
