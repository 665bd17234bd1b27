#include "advise/advise.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/contractions.h"
#include "advise/decide.h"
#include "advise/layout_search.h"
#include "advise/liveness/loop_reuse.h"
#include "advise/obstacles.h"
#include "advise/other_calls.h"
#include "advise/reuse_advice.h"
#include "advise/siblings.h"
#include "advise/suggest.h"
#include "advise/transformed.h"

namespace loopfold::advise {

void advise(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
            profile::Profile& profile, const PlanLimits& limits) {
  find_obstacles(graph, context, flow, profile);
  const std::vector<Array> arrays = find_arrays(profile);
  liveness::find_reuse(graph, context, flow, profile);
  bool timed_out = false;
  BuiltNests built;
  for (profile::Region& region : profile.regions) {
    const RegionPlan plan = plan_region(graph, context, flow, region, profile, limits);
    timed_out = timed_out || plan.timed_out;
    region.transformed = describe_plan(plan, context, region, profile);
    region.suggestions =
        suggest(plan, context, region, profile, find_distributions(graph, context, flow, region, profile));
    suggest_layouts(plan, context, arrays, region, profile);
    suggest_contractions(graph, context, flow, arrays, region, profile, built);
    require_reuse(region, region.suggestions);
    for (const Opaque& given_up : plan.gave_up) {
      const profile::TreeNode& node = profile.tree[context.nodes[given_up.loop]];
      const auto whole = static_cast<double>(std::max<std::uint64_t>(profile.program.instructions, 1));
      profile.gave_up.push_back(
          {fmt::format("schedule of the loop in {}{}", node.function,
                       node.source ? fmt::format(" at {}:{}", node.source->file, node.source->line) : ""),
           given_up.why, static_cast<double>(node.ops) / whole});
    }
  }
  decide_orders(graph, context, flow, profile, built);
  suggest_fusions(graph, context, flow, profile);
  require_copies(inlined_by(context, profile), profile);
  std::stable_sort(profile.gave_up.begin(), profile.gave_up.end(),
                   [](const profile::GaveUp& a, const profile::GaveUp& b) { return a.share > b.share; });
  if (timed_out)
    profile.quality.push_back({"timer", "a schedule was stopped by the timer: another run may find more", 0});
}

}  // namespace loopfold::advise
