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
  RecentValues& recent() { return recent_; }

 private:
  struct Row {
    std::uint32_t base = 0;
    std::uint32_t slots = 0;
  };
  IdMap by_block_;
  std::vector<Row> rows_;
  std::vector<SlotPredictor> predictors_;
  RecentValues recent_;
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
    std::uint32_t predictor = 0;  // of the slot, for irregular values
    std::uint32_t paths = 0;      // bit p: path p of the loop has it
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
  /// `shapes` and `columns` as a RunBody has them; `rows` says for which classes slot predictors are wanted.
  std::uint32_t add_loop(std::span<const std::uint32_t> paths, std::span<const RunPath> shapes,
                         std::span<const RunColumn> columns, std::span<SlotRows* const, kSlotClasses> rows);
  /// The path's slots of one class; worked out when they are first asked for.
  std::span<const Step> steps(std::size_t path, SlotClass slot_class, const Shapes& shapes, SlotRows& rows) {
    const std::size_t index = static_cast<std::size_t>(slot_class);
    if (!paths_[path].planned[index]) [[unlikely]]
      plan(path, slot_class, shapes, rows);
    return paths_[path].steps[index];
  }

  /// An irregular column of a path: its number, its slot's predictor and place among the path's slots.
  struct Irregular {
    std::uint32_t column = 0;
    std::uint32_t predictor = 0;
    std::uint32_t slot = 0;
  };
  /// For each path of the loop, its columns of the class that `is_irregular` says yes to, in the order of its slots.
  template <typename Predicate>
  void list_irregular(const Loop& loop, SlotClass slot_class, Predicate is_irregular) {
    irregular_.clear();
    for (std::size_t p = 0; p < loop.shapes.size(); ++p) {
      irregular_at_[p] = irregular_.size();
      const std::span<const std::uint32_t> columns = loop.shapes[p].columns;
      for (std::uint32_t slot = 0; slot < columns.size(); ++slot) {
        const Column& memory = loop.columns[columns[slot]];
        if (memory.slot_class == slot_class && is_irregular(columns[slot]))
          irregular_.push_back({columns[slot], memory.predictor, slot});
      }
    }
    irregular_at_[loop.shapes.size()] = irregular_.size();
  }
  std::span<const Irregular> irregular(std::size_t path) const {
    return {irregular_.data() + irregular_at_[path], irregular_at_[path + 1] - irregular_at_[path]};
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
  std::vector<Irregular> irregular_;
  std::array<std::size_t, kMaxRunPaths + 1> irregular_at_{};
  Arena<ExitId> exits_;
  Arena<Step> steps_;
  Arena<std::uint32_t> numbers_;
  Arena<Column> column_memory_;
  Arena<RunPath> run_paths_;
  Arena<RunColumn> run_columns_;
};

}  // namespace loopfold::trace
