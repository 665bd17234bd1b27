#include "advise/plan.h"

#include <algorithm>
#include <set>

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
      if (node != region.node || loop.loop.left_from != kNoContext) continue;
      solve(loop, {});
      return number_places();
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

  /// The loops directly inside. The place of one is its node, for now: nodes are in the order of the run, copies of one
  /// loop and loops of different calls too.
  void solve_inside(const FlowOfLoop& loop, const Outer& outer) {
    for (const FlowOfLoop& inner : flow_.loops()) {
      const ContextId around = flow_.loop_around(context_.tree[inner.loop.loops.front()].parent);
      if (around == kNoContext || inner.loop.left_from != kNoContext) continue;
      if (std::find(loop.loop.loops.begin(), loop.loop.loops.end(), around) == loop.loop.loops.end()) continue;
      const double share = static_cast<double>(ops_of(inner)) /
                           static_cast<double>(std::max<std::uint64_t>(profile_.program.instructions, 1));
      if (share < limits_.min_share) continue;
      Outer here = outer;
      if (!here.empty()) here.back().second = context_.nodes[around];
      add_outer(inner.loop.loops.front(), around, here);
      solve(inner, here);
    }
  }

  /// A loop around another one, and recursion between them, which counts too.
  void add_outer(ContextId inner, ContextId loop, Outer& outer) const {
    const std::size_t first = outer.size();
    ContextId inside = inner;
    for (ContextId from = context_.tree[inner].parent;; from = context_.tree[from].parent) {
      if (from != loop && context_.tree[from].kind != structure::Context::Kind::kRecursion) continue;
      outer.insert(outer.begin() + static_cast<std::ptrdiff_t>(first), {from, context_.nodes[inside]});
      inside = from;
      if (from == loop) return;
    }
  }

  /// Places are 0, 1, 2 ... of what is inside one loop.
  void number_places() {
    const auto same_until = [](const Outer& a, const Outer& b, std::size_t depth) {
      return a.size() > depth && b.size() > depth && a[depth].first == b[depth].first &&
             std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(depth), b.begin());
    };
    std::vector<Outer> places;
    for (const NestPlan& nest : plan_.nests) places.push_back(nest.outer);
    for (NestPlan& nest : plan_.nests) {
      const Outer own = places[static_cast<std::size_t>(&nest - plan_.nests.data())];
      for (std::size_t depth = 0; depth < own.size(); ++depth) {
        std::set<std::int64_t> before;
        for (const Outer& other : places)
          if (same_until(own, other, depth) && other[depth].second < own[depth].second)
            before.insert(other[depth].second);
        nest.outer[depth].second = static_cast<std::int64_t>(before.size());
      }
    }
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
