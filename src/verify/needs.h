// What a value needs to be there, where a new order computes it anew: the instances that made what it was made of.
//
// An order of a region says when instances of its statements run. What it leaves out, and index values wherever they
// stand, is computed where it is used; but not before all that it is made of is there. So every value knows its
// *sources*: the instances with a time that it was computed from, by way of whatever has none. For
//   for (j...) s += b[j];   t = 2 * s;   c[i] = t;
// with times for the sum and for the store, t needs the last step of the sum, and the store must come behind that.
//
// Sets of sources are kept once each and never forgotten: a handful of numbers for each set that ever was. Of a set
// that would be larger than kMost, the earliest are left out; the latest one is always there, so what is the wrong way
// round in the order of times is noticed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "verify/values.h"

namespace loopfold::verify {

/// An instance that has a time.
struct Source {
  NodeIndex node = kNoNodeIndex;
  std::uint32_t statement = 0;
  std::uint64_t serial = 0;  // of the entry of the innermost loop around it,
  std::uint64_t counter = 0;  // and which iteration: no other has both
  std::vector<std::int64_t> time;
  std::vector<std::uint64_t> vector;
};

class Needs {
 public:
  static constexpr std::size_t kMost = 6;
  using SourceId = std::uint32_t;

  Needs() : sets_(1) {}

  /// Just this one. The same if it is known already.
  NeedsId one(const Source& source);
  /// All of both.
  NeedsId both(NeedsId a, NeedsId b);

  std::span<const SourceId> operator[](NeedsId id) const { return sets_[id]; }
  const Source& source(SourceId id) const { return sources_[id]; }

 private:
  using Set = std::vector<SourceId>;
  struct Hash {
    std::size_t operator()(const Set& set) const;
    std::size_t operator()(const Source& source) const;
  };
  struct Same {
    bool operator()(const Source& a, const Source& b) const {
      return a.node == b.node && a.serial == b.serial && a.counter == b.counter;
    }
  };
  NeedsId set(Set members);

  std::vector<Source> sources_;
  std::unordered_map<Source, SourceId, Hash, Same> source_ids_;
  std::vector<Set> sets_;  // increasing; 0 is empty
  std::unordered_map<Set, NeedsId, Hash> set_ids_;
};

}  // namespace loopfold::verify
