// What a nest does and where: how many operations each group stands for, and how its accesses step along each loop.
//
// Operations. What runs in a loop but is in no group (loop control, address computation) counts for the groups directly
// in that loop, in proportion to their own; if there are none, for the groups inside it.
//
// Skews. Iteration vectors count from 0 in every loop. Where the source has `for (i = k + 1; i < n; i++)`, its own i is
// the sum of the counters of both loops, and an order by that sum is no skew to whoever reads the source. Such natural
// sums are seen in the bounds (i goes to n - 1 - k) and in integer results that step by both.
//
// Strides. An access is *near* along a loop if it stays where it is or moves on by its own size when the loop makes one
// step: a cache line serves several iterations, and vector loads apply. Scalars in a frame, which a compiler keeps in
// registers when it optimises, are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "advise/schedule.h"
#include "poly/program.h"
#include "profile/profile.h"

namespace loopfold::advise {

/// What one step of a loop adds to the coordinates of a group, all loops around it standing still. Empty: not known.
using Direction = std::vector<std::int64_t>;

struct AccessFacts {
  const profile::Access* access = nullptr;
  std::vector<profile::Coefficient> steps;  // bytes, by coordinate of the group; none: not known, or to another block
  std::uint64_t count = 0;

  bool stays(std::size_t coordinate) const { return steps[coordinate] == 0; }
  /// Bytes from one iteration to the next one along a direction; none: not known.
  profile::Coefficient step(const Direction& direction) const;
  bool near(const Direction& direction) const;
};

/// A counter of the source that is a sum of canonical ones: coordinate + factor * outer. `for (i = k + 1; ...)`
struct NaturalSum {
  std::size_t coordinate = 0;
  std::size_t outer = 0;
  std::int64_t factor = 0;
  friend auto operator<=>(const NaturalSum&, const NaturalSum&) = default;
};

struct GroupFacts {
  double ops = 0;                     // of the program
  std::vector<double> trips;          // by coordinate: iterations of each entry of its loop, on average
  std::vector<AccessFacts> accesses;  // that can be near or not
  std::set<NaturalSum> natural;
  bool innermost = false;  // there is no loop in its innermost loop
};

/// By group of the program.
std::vector<GroupFacts> nest_facts(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                                   const poly::Program& program, const profile::Profile& profile);

/// Whether a row is a sum of counters of the source: more than one, not counting natural sums. `stands_for` is the
/// coordinate that is its own.
bool is_skewed(const Row& row, std::size_t stands_for, const GroupFacts& facts);

/// The coordinate that each row stands for: one of its sum, the innermost one that leaves one to every other row. A row
/// that follows from those before it stands for none.
std::vector<std::optional<std::size_t>> stands_for(const std::vector<Row>& rows);

/// The share of the accesses that are near: by group, along one direction each.
double near_share(const std::vector<GroupFacts>& facts, const std::vector<std::uint32_t>& groups,
                  const std::vector<Direction>& directions);

/// The coordinate of a group that a row goes over, if it is just one.
std::optional<std::size_t> single_coordinate(const Row& row);

/// The direction of a row of an order.
Direction direction_of(const std::vector<Row>& rows, std::size_t row);

}  // namespace loopfold::advise
