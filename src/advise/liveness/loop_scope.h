// What a loop's own code can name: which variables of its function are declared around it.
//
// A function has the variables of what was inlined into it, too. If the loop is in an inlined function, it is that
// one's variables that a clause of the loop can name, and none of its caller's; if functions were inlined into the
// loop, none of theirs. Which of them the loop is in is told by its tests and by most of its code.
#pragma once

#include <cstdint>
#include <vector>

#include "advise/liveness/value_ways.h"
#include "advise/liveness/variables.h"
#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/verdicts.h"
#include "symbols/local_variables.h"

namespace loopfold::advise::liveness {

class LoopScope {
 public:
  /// `locals` are those of the loop's function, `tests` the branches by which it is decided how often it goes round.
  LoopScope(const ddg::Graph& graph, const poly::Context& context, const poly::SourceLoop& loop, const Inside& inside,
            std::span<const std::uint64_t> tests, std::span<const symbols::LocalVariable> locals);

  /// Of a function that was inlined into the loop.
  bool is_of_callee(const symbols::LocalVariable& local) const { return local.depth > 0 && !is_around(local); }
  /// Of a function that the loop's own was inlined into.
  bool is_of_caller(const symbols::LocalVariable& local) const { return local.depth < depth_; }

  /// A use in the function, or in what is called there, where there is no such variable: of another one that the
  /// register holds by then.
  bool is_out_of_scope(const symbols::LocalVariable& local, const ddg::Dependence& use) const;

  /// In a block of its own, which is not all of a function: `for (int i = 0; ...)` has one for its counter.
  bool has_block(const symbols::LocalVariable& local) const;

 private:
  bool is_around(const symbols::LocalVariable& local) const;
  std::optional<std::uint64_t> place_in_function(const ddg::Dependence& use) const;

  const ddg::Graph& graph_;
  const poly::Context& context_;
  structure::FunctionId function_ = structure::kNoFunction;
  std::vector<std::uint64_t> tests_;
  std::vector<std::uint64_t> code_;  // addresses of what runs in the loop, in its own function
  std::span<const symbols::LocalVariable> locals_;
  int depth_ = 0;  // of the inlined function that the loop is in
};

}  // namespace loopfold::advise::liveness
