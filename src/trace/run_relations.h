// The irregular columns of a run, made ready for coding.
//
// What a loop does irregularly is often one thing: a pointer that is chased, an index that is looked up. Other
// irregular columns are then computed from it: the address of a field is the pointer plus a constant, the address of an
// element the index times its size plus a constant, and the pointer itself is what was loaded an iteration before.
// Written iteration by iteration, such a column's values are all the same distance behind those that they are computed
// from, whichever path an iteration takes.
//
// So a *relation* is a distance (1 to 16 values back) and a power of two (1 to 8); what is left of a value after
// subtracting what it relates to is its *rest*. A column with a relation is coded as rests. If all rests but the first
// are equal the column *follows*, and nothing but that rest and the first value is stored. The first value never
// relates to anything: an iteration before may be outside the run.
//
// A relation that the loop's run before had is tried first, else the first few values are searched for one, with longer
// and longer pauses if there is none. It is kept if rests change less than half as often as values do.
//
// Columns are worked on one after the other, from lists of places in the values, so that loops over values have no
// branch that depends on the path of an iteration. Cost: 3 ns for each value, 50 ns for each search.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/run.h"
#include "trace/run_tables.h"
#include "trace/value_stream.h"

namespace loopfold::trace {

class IrregularColumns {
 public:
  /// Takes the values of the loop's irregular columns of one class from the rows; returns how many they are.
  std::size_t collect(const Run& run, std::span<const std::uint64_t> rows, const RunTables::Loop& loop,
                      SlotClass slot_class);

  struct Choice {
    Relation relation;  // distance 0: none
    bool follows = false;
    std::span<const std::uint64_t> values;  // the first value and the rests; just the values without a relation
  };
  /// How to code an irregular column. What was tried in vain is remembered in `memory`. Valid until the next call.
  Choice choose(std::size_t column, RunTables::Column& memory);
  std::uint64_t last_value(std::size_t column) const { return last_[column]; }
  /// Gives back memory, if a large run took much.
  void trim();

 private:
  static constexpr std::size_t kProbes = 5;  // values that are looked at to find a relation, the first among them

  bool list_places(const Run& run, const RunTables::Loop& loop, SlotClass slot_class);
  void find_present(std::uint32_t paths);
  std::size_t locate(std::size_t column, const RunTables::Column& memory);
  /// The values that are looked at, and their places in the stream.
  struct Probes {
    std::array<std::uint64_t, kProbes> values;
    std::array<const std::uint64_t*, kProbes> places;
  };
  static unsigned score(const Probes& probes, unsigned distance, unsigned shift);
  bool search(const Relation& known, Relation& found) const;
  bool relate(const Relation& relation, std::size_t count, bool& follows);

  // The run.
  std::uint64_t iterations_ = 0;
  std::size_t paths_ = 0;
  std::span<const std::uint8_t> sequence_;
  std::uint32_t used_ = 0;  // bit p: some iteration takes path p

  /// By path: its irregular slots, in order; filled up to a multiple of kStep by slots that do not count.
  static constexpr std::size_t kStep = 4;
  std::vector<std::uint32_t> slots_;
  std::array<std::uint32_t, kMaxRunPaths + 1> slots_at_{};
  std::array<std::uint32_t, kMaxRunPaths> slot_counts_{};
  /// By irregular column and path: which of the path's irregular slots it is, or none of them.
  static constexpr std::uint32_t kAbsent = 0xffffffff;
  std::vector<std::uint32_t> orders_;
  std::vector<std::uint32_t> index_;  // by column: in orders_

  std::vector<std::uint64_t> stream_;  // kReach zeros, then the values, iteration by iteration
  std::vector<std::uint32_t> row_at_;  // where an iteration's values begin in the stream

  /// The iterations that take one of the paths in `present_`, as most columns have them in common with the one before.
  std::uint32_t present_ = 0;
  std::size_t present_count_ = 0;
  std::vector<std::uint32_t> present_rows_;  // where their values begin, unless they are all iterations
  std::vector<std::uint8_t> present_paths_;  // which they take

  // The column.
  const std::uint32_t* places_ = nullptr;  // of its values: at base_ + places_[k]
  const std::uint64_t* base_ = nullptr;
  std::vector<std::uint32_t> own_places_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> rests_;
  std::vector<std::uint64_t> last_;  // by column
};

}  // namespace loopfold::trace
