// Where in its loops something happened: iteration vectors, kept once each and shared.
//
// An iteration is one counter of one entry of one loop, inside an iteration of the loop around it; the vector of an
// instance is the chain from the innermost one outwards. Entries have serial numbers that no two share, so that "the
// same entry" is a comparison of two numbers. Iterations that nothing refers to any more are used again: what is kept
// is what the shadow of memory and registers still knows of, however long the run is.
//
// *Levels* count from the outside: level 0 is the number of the stack, the outermost loop is level 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loopfold::verify {

using IterationId = std::uint32_t;
inline constexpr IterationId kNoIteration = 0;

/// Where the producer of a value is, seen from its consumer.
struct Relation {
  std::uint16_t shared = 0;   // both are in the same entry of the loops of so many levels
  bool carried = false;       // the iterations of level shared - 1 differ
  std::int64_t distance = 0;  // by so much, if carried
  /// Of a level: in the same entry and in another iteration of it.
  bool carried_at(std::size_t level) const { return carried && level + 1 == shared; }
  /// Of a level: in the same entry.
  bool inside(std::size_t level) const { return level < shared; }
};

class Iterations {
 public:
  Iterations() : pool_(1) {}

  /// A new one, referred to once. Refers to `outer` in turn.
  IterationId make(IterationId outer, std::uint64_t serial, std::uint64_t counter);
  void keep(IterationId id) { ++pool_[id].references; }
  void drop(IterationId id) {
    if (id != kNoIteration && --pool_[id].references == 0) release(id);
  }

  std::uint64_t serial(IterationId id) const { return pool_[id].serial; }
  std::uint64_t counter(IterationId id) const { return pool_[id].counter; }
  IterationId outer(IterationId id) const { return pool_[id].outer; }
  std::uint16_t levels(IterationId id) const { return pool_[id].levels; }
  /// The iteration at a level that the vector has.
  IterationId at(IterationId id, std::size_t level) const;

  Relation relation(IterationId producer, IterationId consumer) const;

  /// The counters, outermost first.
  std::vector<std::uint64_t> vector(IterationId id) const;

  /// How many are in use, for tests.
  std::size_t live() const { return pool_.size() - 1 - free_.size(); }

 private:
  struct Iteration {
    std::uint64_t serial = 0;
    std::uint64_t counter = 0;
    IterationId outer = kNoIteration;
    std::uint32_t references = 0;
    std::uint16_t levels = 0;
  };
  void release(IterationId id);

  std::vector<Iteration> pool_;  // 0 is none
  std::vector<IterationId> free_;
};

}  // namespace loopfold::verify
