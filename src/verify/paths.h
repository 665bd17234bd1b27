// The copies that brought a value to where it is, the last one first.
//
// A profile may name a copy as the producer of a value (in a loop in which data decide that the copy runs, it is one).
// To find out whether that happened, the last few copies on the way of every value are remembered, shared between all
// places that a value went on to.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/iterations.h"
#include "verify/values.h"

namespace loopfold::verify {

using PathId = std::uint32_t;
inline constexpr PathId kNoPath = 0;

class Paths {
 public:
  struct Step {
    NodeIndex node = kNoNodeIndex;
    IterationId iteration = kNoIteration;
    PathId before = kNoPath;
    std::uint32_t references = 0;
    std::uint32_t length = 0;
  };
  static constexpr std::uint32_t kLongest = 8;

  explicit Paths(Iterations& iterations) : iterations_(iterations), pool_(1) {}

  const Step& operator[](PathId id) const { return pool_[id]; }

  /// A new one, referred to once: `before`, and then this copy. The oldest step of a long path is forgotten.
  PathId make(NodeIndex node, IterationId iteration, PathId before);
  void keep(PathId id) { ++pool_[id].references; }
  void drop(PathId id) {
    if (id != kNoPath && --pool_[id].references == 0) release(id);
  }

 private:
  PathId add(NodeIndex node, IterationId iteration, PathId before);
  void release(PathId id);

  Iterations& iterations_;
  std::vector<Step> pool_;  // 0 is none
  std::vector<PathId> free_;
};

}  // namespace loopfold::verify
