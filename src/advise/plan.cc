#include "advise/plan.h"

#include <algorithm>

#include "poly/budget.h"

namespace loopfold::advise {

namespace {

using poly::FlowOfLoop;
using structure::ContextId;
using structure::kNoContext;

class Planner {
 public:
  Planner(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
          const profile::Profile& profile, const PlanLimits& limits, RegionPlan& plan)
      : graph_(graph), context_(context), flow_(flow), profile_(profile), limits_(limits), plan_(plan) {}

  void run(const profile::Region& region) {
    for (const FlowOfLoop& loop : flow_.loops()) {
      const std::uint32_t node = context_.nodes[loop.loop.loops.front()];
      if (node == region.node && loop.loop.left_from == kNoContext) return solve(loop, {});
    }
  }

 private:
  using Outer = std::vector<std::pair<ContextId, std::int64_t>>;

  std::uint64_t ops_of(const FlowOfLoop& loop) const {
    std::uint64_t ops = 0;
    for (const ContextId id : loop.loop.loops) ops += profile_.tree[context_.nodes[id]].ops;
    return ops;
  }

  void solve(const FlowOfLoop& loop, const Outer& outer) {
    poly::Program program;
    {
      const poly::IslBudget budget(plan_.isl.get(), limits_.building, kNet);
      program = poly::build_program(plan_.isl.get(), graph_, context_, flow_, loop.loop, limits_.program);
      plan_.timed_out = plan_.timed_out || budget.timed_out();
    }
    if (!program.problem.empty()) {
      plan_.opaque.push_back({loop.loop.loops.front(), program.problem});
      return solve_inside(loop, outer);
    }
    NestPlan nest;
    nest.loop = loop.loop;
    nest.outer = outer;
    nest.ops = static_cast<double>(ops_of(loop));
    nest.facts = nest_facts(graph_, context_, flow_, program, profile_);
    nest.choice = choose_order(plan_.isl.get(), program, nest.facts, limits_.operations);
    nest.program = std::move(program);
    plan_.timed_out = plan_.timed_out || nest.choice.timed_out;
    if (!nest.choice.why.empty()) {
      plan_.gave_up.push_back({loop.loop.loops.front(), nest.choice.why});
      if (!nest.choice.written.legal) return solve_inside(loop, outer);
    }
    plan_.nests.push_back(std::move(nest));
  }

  /// The loops directly inside, in their order.
  void solve_inside(const FlowOfLoop& loop, const Outer& outer) {
    std::int64_t place = 0;
    for (const FlowOfLoop& inner : flow_.loops()) {
      const ContextId around = flow_.loop_around(context_.tree[inner.loop.loops.front()].parent);
      if (around == kNoContext || inner.loop.left_from != kNoContext) continue;
      if (std::find(loop.loop.loops.begin(), loop.loop.loops.end(), around) == loop.loop.loops.end()) continue;
      const double share = static_cast<double>(ops_of(inner)) /
                           static_cast<double>(std::max<std::uint64_t>(profile_.program.instructions, 1));
      Outer here = outer;
      here.emplace_back(around, place++);
      add_recursion(context_.tree[inner.loop.loops.front()].parent, around, here);
      if (share >= limits_.min_share) solve(inner, here);
    }
  }

  /// Recursion between a loop and one inside it counts, too.
  void add_recursion(ContextId from, ContextId loop, Outer& outer) const {
    const std::size_t first = outer.size();
    for (; from != loop; from = context_.tree[from].parent)
      if (context_.tree[from].kind == structure::Context::Kind::kRecursion)
        outer.insert(outer.begin() + static_cast<std::ptrdiff_t>(first), {from, 0});
  }

  static constexpr std::chrono::milliseconds kNet{20'000};

  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::RegionFlow& flow_;
  const profile::Profile& profile_;
  const PlanLimits& limits_;
  RegionPlan& plan_;
};

}  // namespace

RegionPlan plan_region(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                       const profile::Region& region, const profile::Profile& profile, const PlanLimits& limits) {
  RegionPlan plan;
  plan.isl.reset(isl_ctx_alloc());
  Planner(graph, context, flow, profile, limits, plan).run(region);
  return plan;
}

}  // namespace loopfold::advise
