// Whether an order that breaks a dependence is wrong, or only may be.
//
// The dependences that an order is examined against hold at least what happened (poly/program.h): where folding gave
// up, or a value goes through copies, there are pairs of instances among them that never were. What keeps all pairs is
// right; what breaks one of them is wrong only if that one is real:
// - the dependence is exact, or becomes so when its copies are followed one by one (liveness/copy_chain.h); or
// - all its pairs are broken: some of them happened, whichever they are. The graph counts by which loop instances are
//   carried, so a loop that is to be parallel breaks all of a dependence that it carries.
//
// A loop around may see a flow that the loop which would carry it does not have: to that one it is a value that each
// iteration can compute for itself (poly/region_flow.h). If its verdict is that nothing, or only a reduction, is
// carried, such a flow is no proof against it. The same holds for what goes through memory that is no variable of the
// source, the compiler's own or a counter of a called function, and for variables that the loop's own test reads.
//
// "Certain" is never said on less than this; all else is not known.
#pragma once

#include "advise/check_nest.h"

namespace loopfold::advise {

class Certainty {
 public:
  Certainty(const CheckNest& nest, const ddg::Graph& graph, const poly::Context& context)
      : nest_(nest), graph_(graph), context_(context) {}

  /// Of a flow of the nest, and those that go the same way; `broken`: its pairs that the order does not keep.
  bool is_broken(const liveness::UnitFlow& flow, const poly::Isl<isl_map>& broken) const;
  /// Of flow through a storage whose maps are exact. `reductions`: the order has loops that are reductions.
  bool is_broken(const liveness::NestStorage& storage, const liveness::Range& range, const poly::Isl<isl_map>& broken,
                 bool reductions) const;

 private:
  bool is_certain(const liveness::UnitFlow& flow, const poly::Isl<isl_map>& broken) const;
  std::optional<poly::Isl<isl_map>> exact_pairs(const liveness::UnitFlow& flow) const;
  bool has_exact_map(const poly::KeptFlow& flow) const;
  bool is_statement_of(ddg::StatementId statement, std::uint32_t unit) const;
  const poly::FlowOfLoop* judged(structure::ContextId loop) const;
  poly::Isl<isl_map> not_explained(std::uint32_t from, std::uint32_t to, poly::Isl<isl_map> pairs,
                                   const std::set<structure::ContextId>* by = nullptr) const;
  bool is_reduced(const std::string& variable, std::uint32_t unit) const;

  const CheckNest& nest_;
  const ddg::Graph& graph_;
  const poly::Context& context_;
};

}  // namespace loopfold::advise
