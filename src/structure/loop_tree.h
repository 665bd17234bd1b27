// The loop tree: POLY-PROF's dynamic schedule tree, calling contexts and loop nests in one (POLY-PROF 4).
//
// A *context* is a way of calls and loops, without iteration numbers. A call's context is a child of its caller's,
// keyed by where the call is and what it calls; a loop's is a child of the context that it is entered in; a recursive
// component that is entered by a call is one context, however deep the recursion goes. The children of the root are
// what threads, signal handlers and coroutines start with.
//
// Sibling order. index says where a context stands among its siblings: for a loop and for the place of a call, the
// static index of Kelly's mapping in the forest of the function (loop_forest.h); minor tells apart what one place
// calls.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "structure/activations.h"
#include "structure/control_flow.h"
#include "structure/loop_forest.h"
#include "structure/recursive_components.h"

namespace loopfold::structure {

using ContextId = std::uint32_t;  // dense, in the order of first entry; a parent's is smaller than its children's
inline constexpr ContextId kNoContext = 0xffffffff;

/// How often, over the entries of a loop.
struct EntryCounts {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::uint64_t total = 0;
  void add(std::uint64_t count, bool first) {
    min = first || count < min ? count : min;
    max = count > max ? count : max;
    total += count;
  }
};

/// What tells a context from its siblings.
struct ContextKey {
  enum class Kind : std::uint8_t { kRoot, kStart, kCall, kLoop, kRecursion };
  Kind kind = Kind::kRoot;
  Origin origin = Origin::kThread;  // kStart: what started it
  ContextId parent = kNoContext;
  FunctionId function = kNoFunction;  // called, started, or (kLoop) that the loop is in; kRecursion: that entered it
  PlaceId site = kNoPlace;            // kCall, kRecursion: where the call is
  FunctionId caller = kNoFunction;    // and in which function: hidden code and shared code are in several
  NodeId node = kNoNode;              // and at which of its nodes: that where longjmp lands is another one
  LoopId loop = kNoLoop;              // kLoop: in the function's forest
  std::uint8_t hidden = 0;            // kLoop: level inside a loop that is split (splits.h); 0: the loop itself
  friend bool operator==(const ContextKey&, const ContextKey&) = default;
};

struct Context : ContextKey {
  std::uint32_t index = 0;
  std::uint32_t minor = 0;

  bool main_thread = false;        // kStart: by the main thread
  std::uint64_t instructions = 0;  // exclusive, all three
  std::uint64_t memory = 0;
  std::uint64_t floating = 0;
  std::uint64_t entries = 0;
  std::uint64_t finished = 0;  // entries that ended: what the two below are over
  EntryCounts iterations;      // kLoop: executions of the header; kRecursion: steps
  EntryCounts trips;           // kLoop: the same without one that left from a test at the top
  std::uint64_t period = 0;    // of a hidden level: iterations of an entry, if the loop does not end before
};

/// Of a loop that is split: how often per entry of all its levels together. The totals are those of its innermost
/// level.
struct SplitCounts {
  EntryCounts iterations;
  EntryCounts trips;
};

class LoopTree {
 public:
  LoopTree();

  std::span<const Context> contexts() const { return contexts_; }
  Context& operator[](ContextId context) { return contexts_[context]; }
  const Context& operator[](ContextId context) const { return contexts_[context]; }
  static constexpr ContextId root() { return 0; }

  /// The context with this key, made with the given place among its siblings if there is none. The parent itself if
  /// there are too many contexts already.
  ContextId child(const ContextKey& key, std::uint32_t index, std::uint32_t minor);
  /// The same if there is one, else kNoContext.
  ContextId find(const ContextKey& key) const;
  /// Loops that are split, by the context of their outermost level.
  std::map<ContextId, SplitCounts>& splits() { return splits_; }
  const std::map<ContextId, SplitCounts>& splits() const { return splits_; }
  /// More contexts would have been needed than there may be.
  bool full() const { return full_; }

 private:
  void grow();

  std::vector<Context> contexts_;
  std::vector<ContextId> last_child_;  // by context: of the last search
  std::vector<ContextId> table_;       // open addressing
  std::map<ContextId, SplitCounts> splits_;
  bool full_ = false;
};

}  // namespace loopfold::structure
