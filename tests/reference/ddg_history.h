// The instances of a run, in the order in which they happened, and how two of them lie to each other.
//
// An instance has its whole iteration vector, the stack that it was on, and for every coordinate when the loop that the
// coordinate counts was entered: as the number of instances that there were by then. Numbers of instances are the only
// clock. Two instances are the same if statement and iteration vector are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "ddg_reference.h"
#include "ddg_state.h"

namespace loopfold::reference {

struct Instance {
  std::uint32_t statement = 0;
  std::vector<std::int64_t> vector;
  std::uint64_t stack = 0;
  std::vector<std::uint32_t> entered;  // by coordinate: instances there were when its loop was entered
};

class History {
 public:
  /// `graph` has the statements.
  explicit History(const Graph& graph) : graph_(graph) {}

  /// `entries` are the serial numbers of the entries of the loops around it, by coordinate. Returns its number.
  std::uint32_t add(std::uint32_t statement, std::vector<std::int64_t> vector, std::uint64_t stack,
                    const std::vector<std::uint64_t>& entries);

  const Instance& operator[](std::uint32_t instance) const { return instances_[instance]; }

  bool same_instance(std::uint32_t a, std::uint32_t b) const;
  /// Nobody is the same as nobody.
  bool same(const Producer& a, const Producer& b) const;
  /// How many counters belong to contexts that both statements are in.
  std::size_t shared(std::uint32_t statement, std::uint32_t other) const;
  /// The first of the coordinates that two instances share in which they differ; as many as they share if in none.
  std::size_t level(std::uint32_t a, std::uint32_t b) const;
  /// The same, only where some differs.
  bool carried_at(std::uint32_t a, std::uint32_t b, std::size_t level) const;
  /// Was `a` made before the entry of the loop that `coordinate` of `b` counts? `a` happened before `b`.
  bool older_than_entry(std::uint32_t a, std::uint32_t b, std::size_t coordinate) const;
  /// Did another stack make `a` after the loop was entered that `coordinate` of `b` counts?
  bool late(std::uint32_t a, std::uint32_t b, std::size_t coordinate) const;

 private:
  const Graph& graph_;
  std::vector<Instance> instances_;
  std::map<std::uint64_t, std::uint32_t> entered_;  // by serial number of the entry
};

}  // namespace loopfold::reference
