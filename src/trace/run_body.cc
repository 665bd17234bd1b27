// The union of a run's paths; see run_body.h.
#include "trace/run_body.h"

#include <algorithm>

namespace loopfold::trace {

void RunBody::clear() {
  if (++body_ == 0) {
    std::fill(marks_.begin(), marks_.end(), Mark{});
    walk_ = 0;
    body_ = 1;
  }
  paths_.clear();
  exits_.clear();
  path_columns_.clear();
  positions_.clear();
  segments_.clear();
  columns_.clear();
}

void RunBody::begin_walk() {
  if (++walk_ != 0) return;
  for (Mark& mark : marks_) mark.walk = 0;
  walk_ = 1;
}

RunBody::Mark& RunBody::mark(BlockId block, const Shapes& shapes) {
  if (block >= marks_.size()) marks_.resize(std::max<std::size_t>(shapes.block_count(), block + std::size_t{1}));
  return marks_[block];
}

/// Where the block's next occurrence on this walk is, or kNone.
std::uint32_t RunBody::position_of(Mark& mark) const {
  if (mark.walk == walk_) return positions_[mark.last].next;
  return mark.body == body_ ? mark.first : kNone;
}

std::uint32_t RunBody::add_position(Mark& mark) {
  const std::uint32_t position = static_cast<std::uint32_t>(positions_.size());
  positions_.emplace_back();
  if (mark.walk == walk_) {
    positions_[mark.last].next = position;
  } else {
    mark.body = body_;
    mark.first = position;
  }
  return position;
}

/// Makes columns for the position's slots from the ones it has up to `slots`.
void RunBody::add_columns(Position& position, BlockId block, std::uint32_t slots) {
  std::uint32_t* link = &position.first_segment;
  while (*link != kNone) link = &segments_[*link].next;
  *link = static_cast<std::uint32_t>(segments_.size());
  segments_.push_back({static_cast<std::uint32_t>(columns_.size()), slots - position.slots, kNone});
  for (std::uint32_t slot = position.slots; slot < slots; ++slot) columns_.push_back({block, slot, false});
  position.slots = slots;
}

/// Appends the columns of the position's first `slots` slots to the path.
void RunBody::list_columns(const Position& position, std::uint32_t slots) {
  std::uint32_t segment = position.first_segment;
  while (slots > 0) {
    const std::uint32_t count = std::min(slots, segments_[segment].slots);
    for (std::uint32_t i = 0; i < count; ++i) path_columns_.push_back(segments_[segment].column + i);
    slots -= count;
    segment = segments_[segment].next;
  }
}

bool RunBody::add(std::span<const ExitId> exits, const Shapes& shapes) {
  if (paths_.size() == kMaxRunPaths || exits.size() > kMaxPathEvents) return false;
  const std::size_t columns_before = columns_.size();
  const std::span<const ExitShape> known = shapes.exits();
  Path path;
  path.first_exit = static_cast<std::uint32_t>(exits_.size());
  path.exits = static_cast<std::uint32_t>(exits.size());
  path.first_column = static_cast<std::uint32_t>(path_columns_.size());
  exits_.insert(exits_.end(), exits.begin(), exits.end());
  begin_walk();
  bool fits = true;
  for (std::size_t i = 0; i < exits.size() && fits; ++i) {
    const ExitShape& shape = known[exits[i]];
    Mark& at = mark(shape.block, shapes);
    std::uint32_t position = position_of(at);
    if (position == kNone) position = add_position(at);
    at.walk = walk_;
    at.last = position;
    Position& here = positions_[position];
    fits = positions_.size() <= kMaxRunPositions &&
           columns_.size() + (shape.slots > here.slots ? shape.slots - here.slots : 0) <= kMaxRunColumns;
    if (!fits) break;
    if (shape.slots > here.slots) add_columns(here, shape.block, shape.slots);
    list_columns(here, shape.slots);
    path.instructions += shape.instructions;
  }
  path.columns = static_cast<std::uint32_t>(path_columns_.size()) - path.first_column;
  paths_.push_back(path);
  if (fits) {
    mark_control(paths_.size() - 1, shapes);
  } else {
    remove_last(columns_before, shapes);
  }
  return fits;
}

/// Marks the columns that the stack pointers of the path's exits are computed from.
void RunBody::mark_control(std::size_t path, const Shapes& shapes) {
  const std::uint32_t* columns = path_columns_.data() + paths_[path].first_column;
  for (const ExitId exit : exits(path)) {
    const ExitShape& shape = shapes.exits()[exit];
    for (const std::uint16_t slot : shapes.control_slots(shape)) columns_[columns[slot]].control = true;
    columns += shape.slots;
  }
}

void RunBody::remove_last(std::size_t columns, const Shapes& shapes) {
  exits_.resize(paths_.back().first_exit);
  path_columns_.resize(paths_.back().first_column);
  columns_.resize(columns);
  paths_.pop_back();
  for (Column& column : columns_) column.control = false;
  for (std::size_t path = 0; path < paths_.size(); ++path) mark_control(path, shapes);
}

std::size_t RunBody::covered(std::span<const ExitId> exits, const Shapes& shapes) {
  const std::span<const ExitShape> known = shapes.exits();
  begin_walk();
  std::size_t count = 0;
  for (; count < exits.size(); ++count) {
    Mark& at = mark(known[exits[count]].block, shapes);
    const std::uint32_t position = position_of(at);
    if (position == kNone) break;
    at.walk = walk_;
    at.last = position;
  }
  return count;
}

}  // namespace loopfold::trace
