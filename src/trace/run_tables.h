// What the encoder and the decoder of a chunk both know at any moment: the paths and loops so far, and guesses.
//
// A chunk of runs decodes by itself, so these tables start empty in every chunk and grow in the same order on both
// sides. All memory is in proportion to what the chunk uses, and pieces that others point to never move.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trace/run.h"
#include "trace/shapes.h"
#include "trace/value_stream.h"

namespace loopfold::trace {

/// Arrays that stay where they are until clear(). Memory is kept for the next time.
template <typename T>
class Arena {
 public:
  std::span<T> allocate(std::size_t count) {
    while (piece_ < pieces_.size() && used_ + count > pieces_[piece_].size) {
      ++piece_;
      used_ = 0;
    }
    if (piece_ == pieces_.size()) {
      const std::size_t size = std::max<std::size_t>(count, std::min<std::size_t>(kSmallest << piece_, kLargest));
      pieces_.push_back({std::make_unique<T[]>(size), size});
    }
    const std::span<T> result(pieces_[piece_].data.get() + used_, count);
    used_ += count;
    return result;
  }
  void clear() { piece_ = used_ = 0; }

 private:
  static constexpr std::size_t kSmallest = 256;
  static constexpr std::size_t kLargest = std::size_t{1} << 15;
  struct Piece {
    std::unique_ptr<T[]> data;
    std::size_t size = 0;
  };
  std::vector<Piece> pieces_;
  std::size_t piece_ = 0;
  std::size_t used_ = 0;
};

/// A map from ids to numbers, as large as what is in it.
class IdMap {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  std::uint32_t find(std::uint32_t key) const;
  void set(std::uint32_t key, std::uint32_t value);
  void clear();

 private:
  struct Entry {
    std::uint32_t key = kNone;
    std::uint32_t value = kNone;
  };
  std::size_t place(std::uint32_t key) const;

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
};

/// Predictors for the slots of one class: those of a block's slots stand in a row, which its exits share.
class SlotRows {
 public:
  void clear();
  /// The number of the predictor of the block's first slot; those of its next `slots` - 1 slots follow.
  std::uint32_t row(BlockId block, std::uint32_t slots);
  SlotPredictor* data() { return predictors_.data(); }
  History& history() { return history_; }

 private:
  struct Row {
    std::uint32_t base = 0;
    std::uint32_t slots = 0;
  };
  IdMap by_block_;
  std::vector<Row> rows_;
  std::vector<SlotPredictor> predictors_;
  History history_;
};

/// Guesses the next item (path or loop) from the two before it.
class ItemPredictor {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  void clear();
  std::uint32_t guess() const { return table_[context_]; }
  void learn(std::uint32_t item) {
    table_[context_] = item;
    context_ = (item * 0x9e3779b1u ^ previous_ * 0x85ebca77u) >> (32 - kBits);
    previous_ = item;
  }

 private:
  static constexpr unsigned kBits = 12;
  std::array<std::uint32_t, std::size_t{1} << kBits> table_;
  std::uint32_t context_ = 0;
  std::uint32_t previous_ = 0;
};

/// Slots are coded apart by what they are needed for, so that control can be read without the rest.
enum class SlotClass : std::size_t { kControl = 0, kData = 1 };
inline constexpr std::size_t kSlotClasses = 2;

class RunTables {
 public:
  /// One slot of a path: its place among the path's slots, and its predictor.
  struct Step {
    std::uint32_t slot = 0;
    std::uint32_t predictor = 0;
  };
  struct Path {
    RunPath shape;
    std::array<std::span<const Step>, kSlotClasses> steps;  // valid if planned
    std::array<bool, kSlotClasses> planned{};
  };
  /// What is guessed about a column from the loop's run before.
  struct Column {
    StridePredictor start;
    std::uint64_t stride = 0;
    StridePredictor values;     // of irregular ones, or their rests
    Relation relation;          // that irregular ones had
    bool related = false;       // decoder: in this run
    std::uint8_t wait = 0;      // runs until a relation is looked for again
    std::uint8_t patience = 0;  // that many the next time
    std::uint32_t paths = 0;    // bit p: path p of the loop has it
    SlotClass slot_class = SlotClass::kData;
  };
  struct Loop {
    std::span<const std::uint32_t> paths;  // their numbers
    StridePredictor iterations;
    std::span<Column> columns;
    std::span<RunPath> shapes;  // what a Run shows
    std::span<RunColumn> view;
  };

  void clear();
  std::size_t path_count() const { return paths_.size(); }
  std::size_t loop_count() const { return loops_.size(); }
  const Path& path(std::size_t number) const { return paths_[number]; }
  Loop& loop(std::size_t number) { return loops_[number]; }
  const Loop& loop(std::size_t number) const { return loops_[number]; }

  std::uint32_t add_path(std::span<const ExitId> exits, const Shapes& shapes);
  /// `shapes` and `columns` as a RunBody has them.
  std::uint32_t add_loop(std::span<const std::uint32_t> paths, std::span<const RunPath> shapes,
                         std::span<const RunColumn> columns);
  /// The path's slots of one class; worked out when they are first asked for.
  std::span<const Step> steps(std::size_t path, SlotClass slot_class, const Shapes& shapes, SlotRows& rows) {
    const std::size_t index = static_cast<std::size_t>(slot_class);
    if (!paths_[path].planned[index]) [[unlikely]]
      plan(path, slot_class, shapes, rows);
    return paths_[path].steps[index];
  }

  /// How much is in the tables: slots of paths, columns of loops. Both are limited (format.h).
  std::uint64_t slots() const { return slots_; }
  std::uint64_t columns() const { return columns_; }

 private:
  void plan(std::size_t path, SlotClass slot_class, const Shapes& shapes, SlotRows& rows);

  std::vector<Path> paths_;
  std::vector<Loop> loops_;
  std::uint64_t slots_ = 0;
  std::uint64_t columns_ = 0;
  Arena<ExitId> exits_;
  Arena<Step> steps_;
  Arena<std::uint32_t> numbers_;
  Arena<Column> column_memory_;
  Arena<RunPath> run_paths_;
  Arena<RunColumn> run_columns_;
};

}  // namespace loopfold::trace
