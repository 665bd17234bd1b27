// Iterations of a loop along several paths: what is worked out once for each path (builder_weave.cc runs them).
//
// A path is a trail from the beginning of an iteration to its end (trail.h). What it leaves in registers must be there
// when the next iteration begins, but only as far as some path of the loop looks at it before writing it: such granules
// are *exposed*. All else (flags, addresses, intermediate results) can wait until the weaving ends; then, of all
// iterations along one path, only the last counts. So what a path leaves is divided in two: what must be written at the
// end of each iteration, and the rest.
//
// What is written as a whole stays together: if one granule of it is exposed, all are. So is what was moved from
// registers that the iteration found, since that cannot be asked later. Which granules are exposed depends on all paths
// of a loop that are known: a new one may change it, and the others are divided anew (`version`).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ddg/origin_tracker.h"
#include "ddg/part_code.h"
#include "ddg/stretch.h"
#include "ddg/trail.h"
#include "structure/loop_walk.h"

namespace loopfold::ddg {

/// Granules of all registers.
class GranuleBits {
 public:
  bool has(std::size_t granule) const { return (words_[granule / 64] >> granule % 64 & 1) != 0; }
  void add(std::size_t granule) { words_[granule / 64] |= std::uint64_t{1} << granule % 64; }
  void add(const GranuleBits& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  /// If it has one of so many, from this one on, it gets all of them. Whether it did not have them.
  bool complete(std::size_t first, std::size_t count) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) found += has(first + i) ? 1 : 0;
    if (found == 0 || found == count) return false;
    for (std::size_t i = 0; i < count; ++i) add(first + i);
    return true;
  }

 private:
  std::array<std::uint64_t, (Granules::kVector + 16 * Granules::kVectorRegister) / 64 + 1> words_{};
};

/// Some of what a trail leaves in registers: as TrailNode.
struct TrailEnd {
  std::vector<TrailNode::Out> outs;
  PartCode end;
};

struct WeavePlan;

/// All paths of one loop that can be woven.
struct WeaveLoop {
  std::vector<WeavePlan*> plans;
  GranuleBits exposed;
  std::uint32_t version = 0;

  void add(WeavePlan& plan);
};

struct WeavePlan {
  enum class State : std::uint8_t { kImpossible, kNotYet, kReady };
  State state = State::kImpossible;
  structure::PathTotals totals;
  std::uint64_t events = 0;
  std::vector<PathPart> parts;

  // Once it is ready.
  std::vector<TrailNode*> nodes;  // by part: in the trail of all of them
  std::vector<TrailNode*> alone;  // by part: of a trail of its own
  GranuleBits exposed;            // by this path, or moved by it
  WeaveLoop* loop = nullptr;
  std::uint32_t version = 0;  // of the loop, that these are of
  TrailEnd each;              // what is written at the end of each iteration
  TrailEnd rest;              // and what can wait

  // While iterations are woven.
  OriginTracker::Loads loading;  // of the one that runs
  OriginTracker::Loads loaded;   // of the last one
  bool waits = false;            // the rest of the last one is not written yet
  std::uint64_t counter = 0;     // of the last one

  /// Sets `exposed`; the nodes are there.
  void find_exposed();
  /// Divides what the path leaves, as the loop has it now.
  void divide();
};

}  // namespace loopfold::ddg
