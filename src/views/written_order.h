// The order in which the statements of a region ran, as a schedule: { S3[i0, i1] -> [0, i0, 1, i1, 0]; ... }.
//
// Counters alternate with places, as in Kelly's mapping: what runs in one node of the loop tree (statements, loops,
// calls) gets places from 0 on. A profile does not say in which order these ran within one iteration; it is found from
// what must hold: what depends on something of the same iteration comes behind it. Where that leaves a choice, what ran
// first of all comes first. So the order keeps every dependence of the profile that stays within an iteration, and
// those between iterations by construction; statements that do not depend on each other may be the other way round.
//
// Linear in the region's statements and dependences, but for a logarithm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace loopfold::views {

/// The statements that run inside the region's outermost loop, increasing.
std::vector<std::uint32_t> statements_of(const profile::Profile& profile, const profile::Region& region);

/// One row of a schedule: a coordinate of the statement or a place.
struct Time {
  bool is_place = false;
  std::uint32_t value = 0;  // number of the coordinate, or the place
  friend bool operator==(const Time&, const Time&) = default;
};

/// By statement of `statements`: all of one length, the shorter ones filled up with place 0.
std::vector<std::vector<Time>> written_order(const profile::Profile& profile, const profile::Region& region,
                                             const std::vector<std::uint32_t>& statements);

/// The same as isl text; "{ }" without statements.
std::string written_schedule(const profile::Profile& profile, const profile::Region& region);

}  // namespace loopfold::views
