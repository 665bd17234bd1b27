// `loopfold layout search`: for each nest of a region, the best pair of an order of its loops and layouts of its
// arrays, beside the best order alone and the best layouts alone, in words and as JSON.
//
// The orders are all that could be proved (choose.h): as written, the scheduler's, and those with the loops of
// permutable bands in every order, untiled and in tiles. The order of the best pair is put to check (check.h), which
// looks at live ranges, too; layouts are one-to-one by construction. What is needed in the source to make the layouts
// is written as the directive that `loopfold layout generate` reads, where the debug information says enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/check.h"
#include "advise/layout_search.h"
#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/region_flow.h"
#include "profile/profile.h"

namespace loopfold::advise {

struct LayoutOptions {
  std::optional<std::uint32_t> region;  // none: all
  Machine machine;
  std::size_t orders = 60;
};

/// A choice in words.
struct ChoiceText {
  std::string loops;    // "gemm.c:12, gemm.c:9, gemm.c:10"
  std::string how;      // "gemm.c:9 in parallel, tiles of 32"
  std::string layouts;  // "A[90][110] of 8 bytes by columns"
  LayoutCost cost;
};

struct NestLayouts {
  std::uint32_t region = 0;
  std::string loop;  // where the nest begins
  double share = 0;  // of the program's operations
  std::size_t orders = 0;
  std::vector<std::string> arrays;   // that have several layouts
  std::vector<std::string> without;  // that have not, and why
  ChoiceText written;
  ChoiceText order_alone;
  ChoiceText layout_alone;
  ChoiceText both;
  std::vector<ChoiceText> ranking;
  bool all_tried = true;
  std::string conclusion;         // in a sentence
  std::string legal;              // of the order of both: "legal", "legal after ...", "unknown: ..."
  std::vector<std::string> maps;  // isl, of the layouts of both
  std::vector<std::string> assumes;
  std::string directive;  // empty: none, or the source does not say enough
  double fetched = 0;
  double used = 0;
  double fetched_after = 0;
};

/// In the order of the regions.
std::vector<NestLayouts> find_layouts(const ddg::Graph& graph, const poly::Context& context,
                                      const poly::RegionFlow& flow, const profile::Profile& profile,
                                      const LayoutOptions& options);

std::string layouts_text(const std::vector<NestLayouts>& nests, const LayoutOptions& options, std::size_t ranked);
std::string layouts_json(const std::vector<NestLayouts>& nests, const LayoutOptions& options);

}  // namespace loopfold::advise
