// What is worth doing about a region, ranked by what it would gain.
//
// The gain is that of the whole program, estimated from counts of this run, and every estimate says how:
// - threads: Amdahl's law with the share of the operations and kCores cores;
// - vectors: elements in a vector register, for the share of accesses that are near;
// - memory: instructions and cache lines touched, by loop order; a line costs kLineCost instructions, as it does when
//   the data is larger than the cache. Programs are profiled on small problems, so it counts on small ones too, and the
//   estimate says so.
// They rank suggestions; they do not predict times. What gains less than kLeastGain is not suggested, nor what the
// binary does already.
//
// Memory reuse is not looked at here: whether variables must be private or expanded is not decided, so no suggestion is
// called legal yet; flow allows all of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "advise/distribute.h"
#include "advise/plan.h"
#include "profile/profile.h"

namespace loopfold::advise {

/// In the title of a suggestion for a loop that another one is inside of as it is written.
inline constexpr std::string_view kOnceInnermost = "once it is innermost";

inline constexpr double kCores = 8;
inline constexpr double kLineCost = 8;
inline constexpr double kLeastGain = 1.02;
inline constexpr double kVectorBytes = 32;
inline constexpr double kCacheLine = 64;
inline constexpr std::uint64_t kFirstCache = 32 * 1024;

std::vector<profile::Suggestion> suggest(const RegionPlan& plan, const poly::Context& context,
                                         const profile::Region& region, const profile::Profile& profile,
                                         std::span<const Distribution> distributions = {});

/// The gain of the whole if a share of it becomes so many times as fast.
double amdahl(double share, double speedup);

}  // namespace loopfold::advise
