// Layouts of a nest's arrays and the order of its loops, searched together under one cost (layout_cost.h).
//
// Every order that is given, untiled and in tiles, with every combination of the layouts that the nest's arrays may
// have. What comes out: the cost as it is; the best order with the arrays as they are; the best layouts with the loops
// as they are; the best of both; and for each combination of layouts the best order for it. An array that code outside
// of the nest uses is copied, which counts.
//
// Bounded: more than kMostCombinations combinations are not tried one by one; then arrays are improved one at a time,
// again and again until nothing gets better, which finds a good combination, not surely the best.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "advise/layout_cost.h"
#include "advise/layouts.h"
#include "advise/plan.h"
#include "profile/profile.h"

namespace loopfold::advise {

inline constexpr std::size_t kMostCombinations = 1024;

struct LayoutChoice {
  std::size_t order = 0;        // of the orders given
  std::uint32_t tile = 0;       // 0: not tiled
  std::vector<Layout> layouts;  // only those that change something
  LayoutCost cost;
};

struct LayoutSearch {
  LayoutChoice written;
  LayoutChoice order_alone;
  LayoutChoice layout_alone;
  LayoutChoice both;
  std::vector<LayoutChoice> ranking;                           // by combination of layouts, the cheapest first
  std::vector<std::uint32_t> objects;                          // arrays that have several layouts
  std::vector<std::pair<std::uint32_t, std::string>> without;  // those that have not, and why
  bool all_tried = true;
  double without_copies = 0;  // cost of the best of both if nothing had to be copied
  double fetched = 0;         // bytes in lines touched, as written, by arrays that layout_alone changes
  double used = 0;            // of these, bytes that are loaded or stored
  double fetched_after = 0;   // with layout_alone
};

/// The first order is the one as written.
LayoutSearch search_layouts(const NestPlan& nest, const std::vector<Order>& orders,
                            const std::vector<std::uint32_t>& tiles, const std::vector<Array>& arrays,
                            const profile::Profile& profile, const Machine& machine);

/// LF-LAY, where a layout gains more than its copies cost.
void suggest_layouts(const RegionPlan& plan, const poly::Context& context, const std::vector<Array>& arrays,
                     profile::Region& region, const profile::Profile& profile);

}  // namespace loopfold::advise
