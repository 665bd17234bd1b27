// Runs: the unit in which a trace is stored and read.
//
// A *run* is a stretch of consecutive iterations of one loop in the events of one thread, within one slice. An
// iteration is a *path*: a sequence of exits that starts with a block at the loop header's address and ends before
// control comes round to it again. The paths of a run may differ, as data-dependent branches do; together
// they visit the run's *body*, whose positions are (block, occurrence in the iteration). For every slot of every
// position there is one *column* over the iterations in which it is present: regular, start + stride * i for iteration
// i, modulo 2^64; or irregular, a list of values.
//
// What is in no loop that pays is a *literal*: a run of one iteration whose path is any sequence of events.
//
// Example: for (i = 0; i < 100; i++) s += a[i] with the loop as one block with two slots (the address and i) is one run
// of 100 iterations with two paths, [jump back] for all but the last and [fall through] for the last, and two regular
// columns, (a, 8) and (0, 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/types.h"

namespace loopfold::trace {

// What a run can be. Within these limits every body fits into small tables; a loop beyond them is several runs, or
// literals.
inline constexpr std::size_t kMaxPathEvents = 64;
inline constexpr std::size_t kMaxRunPaths = 32;
inline constexpr std::size_t kMaxRunPositions = 256;
inline constexpr std::size_t kMaxRunColumns = 1024;

/// A side event and its place: how many events stand before it, in its group or (Run::sides) in its run.
struct PlacedSide {
  std::uint64_t ordinal = 0;
  SideEvent side;
};

/// One way through a run's body.
struct RunPath {
  std::span<const ExitId> exits;
  std::span<const std::uint32_t> columns;  // of the slots of these exits, in order; empty in a literal
  std::uint64_t slots = 0;                 // of all exits together
  std::uint64_t instructions = 0;
};

/// The values of one slot of one position of the body.
struct RunColumn {
  enum class Kind : std::uint8_t { kRegular, kIrregular, kSkipped };
  Kind kind = Kind::kRegular;
  bool control = false;  // a stack pointer is computed from it: it is there when only control is read
  BlockId block = 0;
  std::uint32_t slot = 0;
  std::uint64_t start = 0;  // of a regular column: its value in iteration i is start + stride * i
  std::uint64_t stride = 0;
  std::span<const std::uint64_t> values;  // of an irregular one: in the iterations in which it is present, in order
};

struct Run {
  ThreadId thread = 0;
  std::uint64_t slice = 0;
  std::uint64_t position = 0;  // of its first event among the thread's events
  std::uint64_t events = 0;
  std::uint64_t instructions = 0;
  std::uint64_t iterations = 0;
  std::span<const RunPath> paths;  // distinct, in the order of their first use; one in a literal
  /// The path of every iteration. Empty if all but the last take the first path, and the last the last one.
  std::span<const std::uint8_t> sequence;
  std::span<const RunColumn> columns;    // empty in a literal
  std::span<const std::uint64_t> slots;  // of a literal: those of its events, one after the other
  std::span<const PlacedSide> sides;     // that stand behind the first event and before the last

  bool literal() const { return iterations == 1; }
  std::size_t path_of(std::uint64_t iteration) const {
    if (!sequence.empty()) return sequence[iteration];
    return iteration + 1 == iterations ? paths.size() - 1 : 0;
  }
};

/// Walks the iterations of a run and computes their slots. Exact: this is what a run means.
class RunExpander {
 public:
  /// The run and all it refers to must stay as they are during the walk.
  void begin(const Run& run);
  /// Moves on to the next iteration, the first one at first; there must be one.
  const RunPath& next();
  /// The slots of the iteration's events, one after the other; valid until next().
  std::span<const std::uint64_t> slots() const { return slots_; }

  /// What a slot will be in the next iteration and those after it, as long as they take the path of the next one.
  struct Ahead {
    bool regular = true;
    std::uint64_t value = 0;  // of a regular one: in the next iteration, and what it grows by
    std::uint64_t stride = 0;
    const std::uint64_t* values = nullptr;  // of an irregular one
  };
  Ahead ahead(std::size_t slot) const;
  /// Passes over so many iterations, which all take the path of the next one.
  void skip(std::uint64_t iterations);

 private:
  const RunPath& next_mixed();

  const Run* run_ = nullptr;
  std::uint64_t iteration_ = 0;  // the next one
  bool even_ = false;            // all columns of the first path are regular, and all iterations but the last take it
  std::span<const std::uint64_t> slots_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> strides_;  // in the order of the first path's slots, if even
  std::vector<std::size_t> used_;       // by column: how many of its values were
};

}  // namespace loopfold::trace
