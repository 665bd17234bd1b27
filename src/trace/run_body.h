// The body of a run: the union of its paths.
//
// Paths are added one by one. A position of the body is (block, occurrence in the iteration), so a block that a path
// visits twice has two positions, and two paths that visit it once share one. Every position has one column for each
// slot of its longest exit so far; columns are numbered in the order in which they come up. Encoder and decoder add the
// same paths in the same order, so columns need no description in the file.
//
// Finding a block's position is one lookup in an array indexed by block, whose entries are stamped with the number of
// the body they belong to: clearing is an increment.
//
// A loop that is run again and again has the same body again and again. So a body can also be begun anew without being
// cleared: as long as the paths that are added are those that it had, in their order, adding one is a comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/run.h"
#include "trace/shapes.h"
#include "trace/types.h"

namespace loopfold::trace {

class RunBody {
  static constexpr std::uint32_t kNone = 0xffffffff;

 public:
  struct Column {
    BlockId block = 0;
    std::uint32_t slot = 0;
    std::uint32_t control = kNone;  // the first path that has a stack pointer computed from it
  };

  void clear();
  /// The same, but the paths may come again.
  void restart();
  /// Adds a path. False if the body would become too large; it then stays as it was.
  bool add(std::span<const ExitId> exits, const Shapes& shapes);
  /// Takes back the last path.
  void remove_last() { use(used_ - 1); }
  /// How many exits from the first one on are at positions of the body.
  std::size_t covered(std::span<const ExitId> exits, const Shapes& shapes);

  std::size_t paths() const { return used_; }
  std::span<const ExitId> exits(std::size_t path) const {
    return {exits_.data() + paths_[path].first_exit, paths_[path].exits};
  }
  /// Of the path's slots in order.
  std::span<const std::uint32_t> columns(std::size_t path) const {
    return {path_columns_.data() + paths_[path].first_column, paths_[path].columns};
  }
  std::uint64_t instructions(std::size_t path) const { return paths_[path].instructions; }
  std::span<const Column> columns() const { return {columns_.data(), column_count_}; }
  /// Is the stack pointer of any path computed from the column?
  bool is_control(const Column& column) const { return column.control < used_; }

 private:
  struct Path {
    std::uint32_t first_exit = 0;
    std::uint32_t exits = 0;
    std::uint32_t first_column = 0;
    std::uint32_t columns = 0;
    std::uint64_t instructions = 0;
    std::size_t columns_so_far = 0;  // of the body with this path
    std::size_t positions_so_far = 0;
  };
  struct Position {
    std::uint32_t next = kNone;  // the block's next occurrence
    std::uint32_t slots = 0;
    std::uint32_t first_segment = kNone;
  };
  /// Columns of consecutive slots of a position. A position has several if a later path has an exit with more slots.
  struct Segment {
    std::uint32_t column = 0;
    std::uint32_t slots = 0;
    std::uint32_t next = kNone;
  };
  struct Mark {
    std::uint32_t body = 0;
    std::uint32_t first = 0;  // position of the first occurrence, if `body` is the current one
    std::uint32_t walk = 0;
    std::uint32_t last = 0;  // position of the last occurrence on the current walk
  };

  std::uint32_t add_position(Mark& mark);
  void add_columns(Position& position, BlockId block, std::uint32_t slots);
  std::uint32_t* list_columns(const Position& position, std::uint32_t slots, std::uint32_t* to) const;
  /// Where the block's next occurrence on this walk is, or kNone.
  std::uint32_t position_of(const Mark& mark) const {
    if (mark.walk == walk_) return positions_[mark.last].next;
    return mark.body == body_ ? mark.first : kNone;
  }
  void begin_walk(const Shapes& shapes);
  void mark_control(std::size_t path, const Shapes& shapes);
  /// Only the first `paths` paths count.
  void use(std::size_t paths) {
    used_ = paths;
    column_count_ = paths == 0 ? 0 : paths_[paths - 1].columns_so_far;
  }
  bool add_new(std::span<const ExitId> exits, const Shapes& shapes);
  void forget_unused(const Shapes& shapes);

  std::vector<Mark> marks_;  // by block
  std::uint32_t body_ = 1;
  std::uint32_t walk_ = 0;
  std::vector<Path> paths_;  // the first used_, then those that may come again
  std::size_t used_ = 0;
  bool stale_ = false;  // what is behind the paths in use does not belong to any
  std::vector<ExitId> exits_;
  std::vector<Path> kept_paths_;  // while the body is made anew
  std::vector<ExitId> kept_exits_;
  std::vector<std::uint32_t> path_columns_;
  std::vector<Position> positions_;
  std::vector<Segment> segments_;
  std::vector<Column> columns_;  // the first column_count_ are of the paths in use
  std::size_t column_count_ = 0;
};

}  // namespace loopfold::trace
