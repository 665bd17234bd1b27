// The loops of a run in the terms of a profile: regions, their loops of the source, and what stands in the way of each.
//
// A region is an outermost loop of the source, one with no loop around it in the loop tree, together with all that runs
// inside it, called functions included, if it has at least so many percent of the operations and was not left out by
// the user (excluded.h). (A recursion is no loop
// here: a loop inside a recursion that no loop is around is a region.) Regions are disjoint, and come with most
// operations first; the loops of a region come in the order of the tree.
//
// What is said of a loop beside its verdict is summed up from what the profile has: its nodes of the tree, how often it
// goes round, and how many of its accesses stay where they are or move on by their own size.
//
// Places. An instruction without a line (a library's) is placed at the nearest call on the way to it that has one, so
// that a person can find it: "rand called at mc.c:12".
//
// Dependences that block a loop between the same lines, through the same object and over the same distance are one,
// with the sum of their instances.
//
// What is left of an inner loop in an iteration that stands beside its nest (source_loops.h) has no row of its own: its
// verdict counts for the loop's, and its operations for the region's.
//
// Contexts that the tree shows as one node (reached through different stubs) are one loop with the worst verdict.
// Linear in the profile, but for sorting. Exact, as the verdicts are.
#pragma once

#include <span>
#include <vector>

#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/verdicts.h"
#include "profile/profile.h"

namespace loopfold::poly {

/// The loops that are in regions: what must be judged. The profile must have its tree.
std::vector<SourceLoop> loops_in_regions(std::span<const SourceLoop> loops, const Context& context, double min_percent,
                                         const profile::Profile& profile);

/// Adds regions to a profile that has everything else. There must be a verdict for every loop that is in a region.
void describe_regions(const ddg::Graph& graph, std::span<const LoopVerdict> verdicts, const Context& context,
                      double min_percent, profile::Profile& profile);

/// Rows of loops that are split say what holds for the loop as the binary has it: what was found without splits. What
/// was found for blocks of its iterations is kept beside it. `unsplit`: a profile of the same trace without splits, its
/// nodes by its contexts, and these by the contexts of `context`.
void judge_as_written(const profile::Profile& unsplit, std::span<const std::uint32_t> unsplit_nodes,
                      std::span<const structure::ContextId> unsplit_contexts, const Context& context,
                      profile::Profile& profile);

}  // namespace loopfold::poly
