// Fusion of outermost loops that stand one after the other: each is a region of its own, so no schedule sees both.
//
// Two loops of one function body, with as many iterations, may become one if in it nothing is used before it is made:
// where iteration i of the second one uses what iteration p(i) of the first one made, p(i) <= i; or p(i) <= i + d, and
// the second one begins d iterations later. The distance is computed from the folded dependences between the two,
// exactly where these are exact, and never too small. Values that can be computed anew (index values) do not count.
// Nothing between the loops may need the first one while the second one needs it.
//
// Suggested where both walk the same data in the same steps. Memory reuse is not looked at. Linear in the dependences
// for each pair of neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/region_flow.h"
#include "profile/profile.h"

namespace loopfold::advise {

/// Of producer - consumer, along one coordinate that both have, over all points of a dependence between different
/// loops. Nothing if it cannot be bounded.
struct Distances {
  std::int64_t least = 0;
  std::int64_t greatest = 0;
};
std::optional<Distances> distances_of(const fold::Folded& map, std::size_t coordinate);

struct SiblingFusion {
  std::uint32_t first = 0;  // regions
  std::uint32_t second = 0;
  std::int64_t delay = 0;       // iterations by which the second begins later
  bool stays_parallel = false;  // no flow between the two leads to another iteration
  double lines = 0;             // cache lines that the second loop touches after the first one did
  std::uint64_t dependences = 0;
};

std::vector<SiblingFusion> find_fusions(const ddg::Graph& graph, const poly::Context& context,
                                        const poly::RegionFlow& flow, const profile::Profile& profile);

/// Adds them to the first region of each pair.
void suggest_fusions(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                     profile::Profile& profile);

}  // namespace loopfold::advise
