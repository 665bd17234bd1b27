// Repair: what makes an order right whose live ranges collide (Trifunovic and Cohen, Figure 8, step 5b).
//
// Values that are in each other's way get places of their own. A storage has *copies*, and each definition puts its
// value into one of them; two definitions are in conflict only if they use the same copy. There are two ways to number
// the copies:
// - *private*: one for each iteration of a parallel loop. For that no value may go from one iteration to another, and
//   what is needed behind the loop must come from its last iteration (lastprivate); what comes from before it is copied
//   in (firstprivate).
// - *expanded* along loops as written: one for each of their iterations; along none of them, one beside the storage
//   itself, which keeps what was there before. The fewest loops that do are taken, then the fewest bytes.
//
// Private is preferred: it takes a copy per thread. Exact for exact storages; what is not known is `kUnknown`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advise/liveness/conflicts.h"

namespace loopfold::advise::liveness {

/// A loop as written: its counter in the units that are in it.
struct LoopCounter {
  std::vector<std::optional<std::uint32_t>> coordinate;  // by unit
  std::uint64_t trips = 1;
};

struct Repair {
  enum class Kind : std::uint8_t {
    kNone,        // nothing is needed
    kPrivate,     // to iterations of the parallel loops in `row` of the times
    kExpand,      // along `along`
    kImpossible,  // no expansion that was looked at helps
    kUnknown,
  };
  Kind kind = Kind::kNone;
  std::uint32_t row = 0;
  bool first = false;                // private: values come in from before the loop
  bool last = false;                 // private: the last iteration's values are needed behind the loop
  std::vector<std::uint32_t> along;  // expand: loops, by number
  std::uint64_t bytes = 0;           // expand: of all copies together
};

struct RepairOptions {
  bool may_be_private = true;
  bool may_expand = true;
};

/// `conflicts` are those of the storage under `times`, which keep its flow. `domains` are those of all units: whether
/// an iteration is the last one depends on all that is in the loop.
Repair find_repair(const Storage& storage, const Times& times, const Conflicts& conflicts,
                   const std::vector<LoopCounter>& loops, const std::vector<poly::Isl<isl_set>>& domains,
                   const RepairOptions& options);
Repair find_repair(const Storage& storage, Precedence& order, const Conflicts& conflicts,
                   const std::vector<LoopCounter>& loops, const std::vector<poly::Isl<isl_set>>& domains,
                   const RepairOptions& options);

}  // namespace loopfold::advise::liveness
