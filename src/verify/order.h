// Whether an order of a region keeps every value and every decision behind what makes it: instance by instance.
//
// A schedule gives each instance of a statement a time. For every flow of a value between two instances in one entry of
// the region, and every decision of data, the producer's time must be lexicographically smaller than the consumer's;
// equal times are right only for one iteration, whose instances stay in the order that they have. In a band, of
// instances that agree in all dimensions before it, none may go backwards in any member; and none may move at all in a
// parallel member if it agrees in all dimensions before that.
//
// In a member that is a reduction, what may move is what a loop carries from one step of a chain to another.
//
// What can be computed anew has no time of its own: index values of all loops around them, wherever they stand; what a
// loop carries through induction variables and loads that can be repeated (judge.h); and all that the schedule leaves
// out. Instead it hands on what it needs itself (needs.h), and whoever uses it must come behind that.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "structure/loop_tree.h"
#include "symbols/symbolizer.h"
#include "verify/flow.h"
#include "verify/judge.h"
#include "verify/needs.h"
#include "verify/replay.h"
#include "verify/schedule.h"

namespace loopfold::verify {

/// Which statement of the profile a part is: the profile has the same parts, named by node and address.
class StatementNames {
 public:
  StatementNames(const profile::Profile& profile, symbols::Symbolizer& symbolizer,
                 const std::vector<std::uint32_t>& nodes);
  /// Nothing if the profile has no such statement, or several.
  std::optional<std::uint32_t> of(const Flow& flow, PartIndex part);

 private:
  symbols::Symbolizer& symbolizer_;
  const std::vector<std::uint32_t>& nodes_;
  // By node, module and address, or kind; none where the profile has several: contexts that are one node of the tree.
  std::map<std::tuple<std::uint32_t, std::string, std::uint64_t>, std::optional<std::uint32_t>> code_;
  std::map<std::pair<std::uint32_t, profile::Statement::Kind>, std::optional<std::uint32_t>> calls_;
  std::map<PartIndex, std::optional<std::uint32_t>> known_;
};

/// An instance that an order puts in the wrong place.
struct Misplaced {
  NodeIndex from = kNoNodeIndex;
  NodeIndex to = kNoNodeIndex;
  std::vector<std::uint64_t> producer;
  std::vector<std::uint64_t> consumer;
  std::vector<std::int64_t> from_time;
  std::vector<std::int64_t> to_time;
  std::uint64_t count = 0;
};

/// The order of one region.
class OrderCheck {
 public:
  /// Judges of the region's loops, by context. All must outlive it.
  using Judges = std::map<structure::ContextId, const Judge*>;

  OrderCheck(const profile::Region& region, Schedule schedule, const Flow& flow, const structure::LoopTree& tree,
             const Judges& judges, StatementNames& statements, Needs& needs);

  /// What the consumer needs by this.
  NeedsId add(const Instance& instance, const Iterations& iterations);
  bool is_in_region(NodeIndex node) const { return inside_[flow_.nodes[node].context]; }
  bool runs_anyway(NodeIndex node) const;

  const profile::Region& region() const { return region_; }
  std::uint64_t checked() const { return checked_; }
  /// By the pair of instructions.
  std::vector<Misplaced> misplaced() const;
  std::uint64_t band_checked(std::size_t band) const { return bands_[band].checked; }
  std::vector<Misplaced> misplaced_in(std::size_t band) const;

 private:
  using Found = std::map<std::pair<NodeIndex, NodeIndex>, Misplaced>;
  struct Band {
    std::uint64_t checked = 0;
    Found found;
  };

  bool is_recomputed(NodeIndex node, std::size_t level) const;
  bool is_needless(const Instance& instance) const;
  bool is_due(NodeIndex node) const;
  bool hands_on(NodeIndex node) const;
  const Judge* judge_at(NodeIndex node, std::size_t level) const;
  std::optional<Source> timed(NodeIndex node, IterationId iteration, const Iterations& iterations) const;
  bool may_reorder(const Instance& instance) const;
  void check(const Instance& instance, const Source& from, const Source& to);
  void check_bands(const Instance& instance, const Source& from, const Source& to);
  static void note(Found& found, const Source& from, const Source& to);

  const profile::Region& region_;
  Schedule schedule_;
  const Flow& flow_;
  const structure::LoopTree& tree_;
  const Judges& judges_;
  StatementNames& statements_;
  Needs& needs_;
  std::uint16_t level_ = 0;                               // of the region's outermost loop
  std::vector<bool> inside_;                              // by context
  std::vector<std::vector<structure::ContextId>> loops_;  // by context: by level
  mutable std::vector<std::optional<bool>> hands_on_;  // by node, where known
  mutable std::vector<std::uint16_t> index_from_;  // by node: in loops of this level and deeper it is an index value
  std::uint64_t checked_ = 0;
  Found found_;
  std::vector<Band> bands_;
  std::map<const Judge*, std::set<Judge::Ends>> chains_;  // where a band has a reduction
};

}  // namespace loopfold::verify
