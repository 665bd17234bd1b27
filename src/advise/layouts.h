// Data layout together with the order of loops: where lines of the cache are fetched for little, and what other order
// of an array's dimensions, or of a structure's fields, would change (papers/003, sections 3.1 and 5).
//
// For a nest, each order that was proved (as written, and the one chosen), and each array of known shape that the nest
// uses: every permutation of its dimensions, and one array per field where elements are structures. An array's layout
// changes its own accesses only, so the best layouts for an order are found array by array. The cost is that of
// suggest.h: instructions, and kLineCost for each cache line touched from one iteration of the innermost loop to the
// next. An array that other code uses as well is copied in and out, which is counted: 2 * size. What comes out: the
// cost as it is, with the best order alone, the best layouts alone, and both.
//
// All layouts here are one-to-one by construction: a permutation of dimensions, fields apart. Bounded: arrays of up to
// kMostDimensions dimensions; linear in accesses times permutations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advise/arrays.h"
#include "advise/plan.h"
#include "profile/profile.h"

namespace loopfold::advise {

inline constexpr std::size_t kMostDimensions = 4;

/// How an array is stored.
struct Layout {
  std::uint32_t object = 0;
  std::vector<std::uint32_t> order;  // of the dimensions (the blocks first), outermost first
  bool apart = false;                // a structure's fields in arrays of their own
  bool is_identity(const Array& array) const;
};

struct LayoutCost {
  double instructions = 0;
  double lines = 0;  // weighted
  double copies = 0;
  double total() const { return instructions + lines + copies; }
};

struct LayoutSearch {
  LayoutCost written;
  LayoutCost order_alone;
  LayoutCost layout_alone;
  LayoutCost both;
  std::vector<Layout> layouts;       // of layout_alone; only those that change something
  std::vector<Layout> layouts_both;  // of both
  double fetched = 0;                // bytes in lines touched, as written, by arrays with a layout that changes
  double used = 0;                   // of these, bytes that are loaded or stored
  double fetched_after = 0;          // with layout_alone
};

LayoutSearch search_layouts(const NestPlan& nest, const std::vector<Array>& arrays, const profile::Profile& profile);

/// "{ A[i0, i1] -> [i1, i0] }", as isl reads it.
std::string layout_map(const Layout& layout, const Array& array, const profile::Object& object);

/// LF-LAY, where a layout gains more than its copies cost.
void suggest_layouts(const RegionPlan& plan, const poly::Context& context, const std::vector<Array>& arrays,
                     profile::Region& region, const profile::Profile& profile);

}  // namespace loopfold::advise
