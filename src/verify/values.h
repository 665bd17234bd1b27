// Values that are in a register or in memory somewhere: which instance made them.
//
// A value is *made* by an instance of an instruction (a node of the flow, at an iteration): by whatever computes or
// loads or stores it. Copies make none, the value just gets to one more place. But a copy that data have decided is a
// choice, in the loops in which they do: there the value is one that the copy made, while other loops still see
// through it. Such a value is *handed*: made by the copy at the levels in its mask, and at all others what it was.
//
// What a plain load made also says from where, and what was there: it can be loaded again, as long as nothing else has
// been written to that place.
//
// Every value knows some of the addresses from which what it was computed of was loaded: whether a store updates a cell
// in place can be told by that.
//
// Values are counted by who refers to them, and used again.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "verify/iterations.h"

namespace loopfold::verify {

using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kNoNodeIndex = 0xffffffff;

using NeedsId = std::uint32_t;  // needs.h
inline constexpr NeedsId kNoNeeds = 0;

using ValueId = std::uint32_t;
inline constexpr ValueId kNoValue = 0;  // nothing in the trace made it, or it is not worth a name (the stack pointer)

struct Value {
  enum class Kind : std::uint8_t { kMade, kLoaded, kHanded };
  Kind kind = Kind::kMade;
  NodeIndex node = kNoNodeIndex;
  IterationId iteration = kNoIteration;
  std::uint64_t time = 0;      // when it was made: instructions until then
  ValueId inner = kNoValue;    // kHanded: what was handed on; kLoaded: the youngest value that was loaded
  std::uint32_t size = 0;      // kLoaded: bytes that were loaded
  std::uint64_t address = 0;   // kLoaded: from here
  std::uint64_t levels = 0;    // kHanded: at which it counts
  NeedsId needs = kNoNeeds;    // to be computed anew
  std::array<std::uint64_t, 8> sources{};  // addresses; 0: none
  std::uint32_t references = 0;
};

class Values {
 public:
  explicit Values(Iterations& iterations) : iterations_(iterations), pool_(1) {}

  const Value& operator[](ValueId id) const { return pool_[id]; }

  /// A new one, referred to once. Refers to its iteration and what is inside it.
  ValueId make(Value value);
  void keep(ValueId id, std::uint32_t times = 1) { pool_[id].references += times; }
  void drop(ValueId id) {
    if (id != kNoValue && --pool_[id].references == 0) release(id);
  }

  /// The value as a level sees it.
  ValueId at_level(ValueId id, std::size_t level) const {
    while (pool_[id].kind == Value::Kind::kHanded && (pool_[id].levels >> level & 1) == 0) id = pool_[id].inner;
    return id;
  }

  std::size_t live() const { return pool_.size() - 1 - free_.size(); }

 private:
  void release(ValueId id);

  Iterations& iterations_;
  std::vector<Value> pool_;  // 0 is none
  std::vector<ValueId> free_;
};

}  // namespace loopfold::verify
