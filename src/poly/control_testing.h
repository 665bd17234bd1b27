// For tests: the statements of a story, without a dependence graph; and random programs in which every decision is made
// by the last instruction of a piece of code.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ddg/graph.h"
#include "poly/control.h"
#include "structure/loop_walk.h"
#include "structure/structure.h"
#include "structure/testing.h"
#include "trace/decode.h"

namespace loopfold::poly::testing {

/// One part that ran.
struct Step {
  std::uint64_t stack = 0;
  ddg::StatementId statement = 0;
  std::vector<structure::Dimension> dimensions;
  std::ptrdiff_t depth = 0;  // of calls
};

/// Makes a statement of every (context, function, node), and keeps what ran.
struct StatementMaker {
  static constexpr bool kEveryPart = true;

  template <class Walk>
  void part(const Walk&, const typename Walk::S& stack, const structure::Part& part) {
    const auto& frame = stack.frames.back().data;
    const auto [found, added] = ids.try_emplace({stack.data.context, frame.function, frame.current}, ids.size());
    if (added) {
      ddg::Statement& statement = graph.statements.emplace_back();
      statement.id = static_cast<ddg::StatementId>(found->second);
      statement.context = stack.data.context;
      statement.function = frame.function;
      statement.node = frame.current;
      statement.place = part.place;
      statement.instructions = {{0, kinds[part.place]}};
    }
    steps.push_back({stack.data.id, static_cast<ddg::StatementId>(found->second), stack.data.dimensions,
                     static_cast<std::ptrdiff_t>(stack.frames.size())});
  }

  std::vector<std::uint32_t> kinds;  // by place, of the last instruction
  ddg::Graph graph;
  std::vector<Step> steps;
  std::map<std::tuple<structure::ContextId, structure::FunctionId, structure::NodeId>, std::size_t> ids;
};

/// What a story's control is. Jumps are conditional branches.
struct Scene {
  explicit Scene(structure::testing::Story told)
      : story(std::move(told)), structure(structure::find_structure(*story.reader, story.facts)) {
    made.kinds = kinds();
    structure::LoopWalk<StatementMaker> walk(structure, tree, made);
    std::string damage;
    walk.walk(*story.reader, damage);
    control = std::make_unique<Control>(made.graph, structure, tree);
  }
  Scene(const Scene&) = delete;

  std::vector<std::uint32_t> kinds() const {
    using trace::ExitKind;
    const std::map<ExitKind, std::uint32_t> of_exit = {{ExitKind::kNext, trace::kBranch | trace::kConditional},
                                                       {ExitKind::kCall, trace::kCall},
                                                       {ExitKind::kIndirectCall, trace::kCall | trace::kIndirect},
                                                       {ExitKind::kIndirectJump, trace::kBranch | trace::kIndirect},
                                                       {ExitKind::kReturn, trace::kReturn},
                                                       {ExitKind::kSyscall, trace::kSyscall}};
    std::vector<std::uint32_t> result(structure.code.places());
    for (trace::ExitId id = 0; id < story.reader->exits().size(); ++id) {
      const structure::ExitCode& exit = structure.code.exit(id);
      const auto found = of_exit.find(exit.kind);
      if (exit.parts != 0 && found != of_exit.end()) result[structure.code.parts(exit).back().place] |= found->second;
    }
    return result;
  }

  std::uint64_t address(ddg::StatementId id) const { return structure.code.address(made.graph.statements[id].place); }
  bool inside(structure::ContextId outer, structure::ContextId context) const {
    while (context != outer && context != structure::LoopTree::root()) context = tree[context].parent;
    return context == outer;
  }

  structure::testing::Story story;
  structure::Structure structure;
  structure::LoopTree tree;
  StatementMaker made;
  std::unique_ptr<Control> control;
};

struct DecidedOptions {
  bool recursion = false;
  bool unwinding = false;
  std::size_t steps = 1500;
};

/// main calls a function again and again. Functions branch, jump through tables, call directly and indirectly, jump
/// into each other, and call a longjmp to any function that is active. In front of each call is a branch that may skip
/// it. No tail calls in recursive programs: whether they leave the loops of their callers depends on how they were
/// called.
class DecidedProgram {
 public:
  DecidedProgram(std::uint64_t seed, const DecidedOptions& options) : random_(seed), options_(options) {
    functions_.resize(2 + pick(3));
    for (std::size_t f = 0; f < functions_.size(); ++f) make(f);
  }

  structure::testing::Story run() {
    script_.start(kMain);
    for (std::size_t i = 0; i < options_.steps; ++i) step();
    return script_.finish();
  }

 private:
  enum class Ending { kBranch, kTable, kGuard, kCall, kIndirectCall, kJumpAway, kBranchAway, kThrow, kReturn };
  struct Piece {
    Ending ending = Ending::kReturn;
    std::vector<std::uint64_t> targets;
  };
  struct Code {
    std::vector<Piece> pieces;
    std::vector<std::size_t> targets;  // pieces that may be jumped to
    // Of a longjmp: not the first, where a coroutine would begin, nor where a call returns to.
    std::size_t landing = 0;
  };
  static constexpr std::uint64_t kMain = 0x1000, kLongjmp = 0x2000, kFirst = 0x10000, kBytes = 8;
  static constexpr std::size_t kDeepest = 6;

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  static std::uint64_t entry(std::size_t function) { return kFirst + 0x1000 * function; }
  static std::size_t function_at(std::uint64_t address) { return (address - kFirst) / 0x1000; }

  void make(std::size_t f) {
    constexpr Ending kAny[] = {Ending::kBranch,       Ending::kBranch, Ending::kBranch, Ending::kBranch,
                               Ending::kTable,        Ending::kCall,   Ending::kCall,   Ending::kReturn,
                               Ending::kIndirectCall, Ending::kThrow,  Ending::kThrow,  Ending::kBranchAway,
                               Ending::kJumpAway};
    Code& code = functions_[f];
    const bool last = !options_.recursion && f + 1 == functions_.size();
    for (std::size_t units = 3 + pick(5); units > 0; --units) {
      Ending ending = kAny[pick(std::size(kAny))];
      const bool jumps_away = ending == Ending::kJumpAway || ending == Ending::kBranchAway;
      if (ending == Ending::kThrow && !options_.unwinding) ending = Ending::kBranch;
      if ((last && goes_away(ending)) || (jumps_away && options_.recursion)) ending = Ending::kBranch;
      code.targets.push_back(code.pieces.size());
      if (is_call(ending)) code.pieces.push_back({Ending::kGuard, {}});
      code.pieces.push_back({ending, {}});
    }
    for (int i = 0; i < 2; ++i) {
      code.targets.push_back(code.pieces.size());
      code.pieces.push_back({Ending::kReturn, {}});
    }
    do {
      code.landing = code.targets[1 + pick(code.targets.size() - 1)];
    } while (is_call(code.pieces[code.landing - 1].ending));
    for (Piece& piece : code.pieces)
      for (int i = 0; i < 3; ++i) piece.targets.push_back(target(f, goes_away(piece.ending)));
  }
  static bool goes_away(Ending ending) {
    return ending == Ending::kCall || ending == Ending::kIndirectCall || ending == Ending::kJumpAway ||
           ending == Ending::kBranchAway;
  }
  static bool is_call(Ending ending) {
    return ending == Ending::kCall || ending == Ending::kIndirectCall || ending == Ending::kThrow;
  }
  /// Without recursion, only functions that come later are called.
  std::uint64_t target(std::size_t f, bool away) {
    const Code& code = functions_[f];
    if (!away) return entry(f) + kBytes * code.targets[pick(code.targets.size())];
    return entry(options_.recursion ? pick(functions_.size()) : f + 1 + pick(functions_.size() - f - 1));
  }

  void step() {
    const std::uint64_t pc = script_.pc();
    if (pc == kMain) return call(entry(0));
    if (pc == kMain + kBytes) return script_.jump(pick(5) == 0 ? kMain + 2 * kBytes : kMain);
    if (pc == kMain + 2 * kBytes) return script_.jump(kMain);
    if (pc == kLongjmp) return unwind();
    run(functions_[function_at(pc)].pieces[pc % 0x1000 / kBytes]);
  }

  void run(const Piece& piece) {
    const std::uint64_t any = piece.targets[pick(3)];
    switch (piece.ending) {
      case Ending::kBranch:
        return script_.jump(pick(2) == 0 ? piece.targets[0] : script_.behind());
      case Ending::kGuard:
        return script_.jump(script_.depth() >= kDeepest || pick(3) == 0 ? script_.behind() + kBytes : script_.behind());
      case Ending::kTable:
        return script_.jump_indirect(any);
      case Ending::kCall:
        return call(piece.targets[0]);
      case Ending::kIndirectCall:
        active_.push_back(function_at(any));
        return script_.call_indirect(any);
      case Ending::kBranchAway:
        if (pick(2) == 0) return script_.jump(script_.behind());
        [[fallthrough]];
      case Ending::kJumpAway:
        active_.back() = function_at(piece.targets[0]);
        return script_.jump(piece.targets[0]);
      case Ending::kThrow:
        return script_.call(kLongjmp);
      case Ending::kReturn:
        active_.pop_back();
        return script_.ret();
    }
  }

  void call(std::uint64_t to) {
    active_.push_back(function_at(to));
    script_.call(to);
  }

  /// main is at depth 1, its first callee at depth 2.
  void unwind() {
    active_.resize(pick(active_.size() + 1));
    const std::uint64_t to =
        active_.empty() ? kMain + kBytes : entry(active_.back()) + kBytes * functions_[active_.back()].landing;
    script_.unwind(active_.size() + 1, to);
  }

  std::mt19937_64 random_;
  DecidedOptions options_;
  structure::testing::Script script_;
  std::vector<Code> functions_;
  std::vector<std::size_t> active_;
};

}  // namespace loopfold::poly::testing
