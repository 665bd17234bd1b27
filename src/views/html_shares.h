// How much of a run could run in parallel, and what each node of the loop tree contributes: the report page's colours.
//
// From the loop tree and the regions of a profile. An operation is
//
//     parallel      if some loop around it has a verdict that lets its iterations run in any order (reductions
//     included); transformed   if none has, but the region's chosen order puts it into a parallel loop or into tiles of
//     which
//                   those of a wavefront may run at once;
//     sequential    if all loops around it are known to be blocked and no order was found that changes this;
//     unknown       if a loop around it could not be judged, or is in no region;
//     none          if it is in no loop, or only in such that never go round more than once.
//
// A profile says of an order what share of a region it covers, not which operations; so `transformed` is that share,
// less what is parallel already, taken from what would be sequential. Linear in the tree; exact but for that.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace loopfold::views {

/// Percent of the operations; they add up to 100 unless nothing ran.
struct ParallelShares {
  double parallel = 0;
  double transformed = 0;
  double sequential = 0;
  double unknown = 0;
  double none = 0;
};

ParallelShares parallel_shares(const profile::Profile& profile);

/// What is said of a node of the tree: of a loop, its verdict.
enum class NodeVerdict : std::uint8_t { kNone, kParallel, kReduction, kTransformed, kNo, kUnknown, kNotJudged };

/// By node. kTransformed: blocked as written, but a parallel or tilable loop of the region's new order stands for it.
std::vector<NodeVerdict> node_verdicts(const profile::Profile& profile);

/// By node: instructions, with all that is below, of statements of which everything is known exactly; and of all
/// statements. What is in no statement is not modelled.
struct Modelled {
  std::vector<std::uint64_t> exact;
  std::vector<std::uint64_t> all;
};

Modelled modelled_ops(const profile::Profile& profile);

}  // namespace loopfold::views
