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
  stale_ = false;
  use(0);
}

void RunBody::restart() {
  if (stale_) clear();
  use(0);
}

void RunBody::begin_walk(const Shapes& shapes) {
  if (marks_.size() < shapes.block_count()) marks_.resize(shapes.block_count());
  if (++walk_ != 0) return;
  for (Mark& mark : marks_) mark.walk = 0;
  walk_ = 1;
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
  segments_.push_back({static_cast<std::uint32_t>(column_count_), slots - position.slots, kNone});
  if (columns_.empty()) columns_.resize(kMaxRunColumns);
  for (std::uint32_t slot = position.slots; slot < slots; ++slot) columns_[column_count_++] = {block, slot, kNone};
  position.slots = slots;
}

/// Writes down the columns of the position's first `slots` slots; returns the place behind them.
std::uint32_t* RunBody::list_columns(const Position& position, std::uint32_t slots, std::uint32_t* to) const {
  std::uint32_t segment = position.first_segment;
  while (slots > 0) {
    const Segment& part = segments_[segment];
    const std::uint32_t count = std::min(slots, part.slots);
    for (std::uint32_t i = 0; i < count; ++i) *to++ = part.column + i;
    slots -= count;
    segment = part.next;
  }
  return to;
}

bool RunBody::add(std::span<const ExitId> exits, const Shapes& shapes) {
  if (used_ == kMaxRunPaths || exits.size() > kMaxPathEvents) return false;
  if (used_ < paths_.size()) {
    const ExitId* const again = exits_.data() + paths_[used_].first_exit;
    if (std::equal(exits.begin(), exits.end(), again, again + paths_[used_].exits)) {
      use(used_ + 1);
      return true;
    }
  }
  if (used_ < paths_.size() || stale_) forget_unused(shapes);
  return add_new(exits, shapes);
}

/// Makes the body anew from the paths in use.
void RunBody::forget_unused(const Shapes& shapes) {
  kept_paths_.assign(paths_.begin(), paths_.begin() + static_cast<std::ptrdiff_t>(used_));
  kept_exits_.swap(exits_);
  clear();
  for (const Path& path : kept_paths_) add_new({kept_exits_.data() + path.first_exit, path.exits}, shapes);
}

/// Adds a path behind all that there are.
bool RunBody::add_new(std::span<const ExitId> exits, const Shapes& shapes) {
  const std::span<const ExitShape> known = shapes.exits();
  Path path;
  path.first_exit = static_cast<std::uint32_t>(exits_.size());
  path.exits = static_cast<std::uint32_t>(exits.size());
  path.first_column = static_cast<std::uint32_t>(path_columns_.size());
  exits_.insert(exits_.end(), exits.begin(), exits.end());
  std::size_t slots = 0;
  for (const ExitId exit : exits) slots += known[exit].slots;
  path_columns_.resize(path.first_column + slots);
  std::uint32_t* const first = path_columns_.data() + path.first_column;
  std::uint32_t* to = first;
  begin_walk(shapes);
  bool fits = true;
  bool control = false;
  for (const ExitId exit : exits) {
    const ExitShape& shape = known[exit];
    Mark& at = marks_[shape.block];
    std::uint32_t position = position_of(at);
    if (position == kNone) position = add_position(at);
    at.walk = walk_;
    at.last = position;
    Position& here = positions_[position];
    fits = positions_.size() <= kMaxRunPositions &&
           column_count_ + (shape.slots > here.slots ? shape.slots - here.slots : 0) <= kMaxRunColumns;
    if (!fits) break;
    if (shape.slots > here.slots) add_columns(here, shape.block, shape.slots);
    to = list_columns(here, shape.slots, to);
    path.instructions += shape.instructions;
    control |= shape.control_slots != 0;
  }
  if (!fits) {
    stale_ = true;
    use(used_);
    return false;
  }
  path.columns = static_cast<std::uint32_t>(to - first);
  path.columns_so_far = column_count_;
  path.positions_so_far = positions_.size();
  paths_.push_back(path);
  use(used_ + 1);
  if (control) mark_control(used_ - 1, shapes);
  return true;
}

/// Marks the columns that the stack pointers of the path's exits are computed from.
void RunBody::mark_control(std::size_t path, const Shapes& shapes) {
  const std::uint32_t* columns = path_columns_.data() + paths_[path].first_column;
  for (const ExitId exit : exits(path)) {
    const ExitShape& shape = shapes.exits()[exit];
    for (const std::uint16_t slot : shapes.control_slots(shape)) {
      std::uint32_t& control = columns_[columns[slot]].control;
      control = std::min(control, static_cast<std::uint32_t>(path));
    }
    columns += shape.slots;
  }
}

std::size_t RunBody::covered(std::span<const ExitId> exits, const Shapes& shapes) {
  const std::span<const ExitShape> known = shapes.exits();
  begin_walk(shapes);
  const std::size_t positions = used_ == 0 ? 0 : paths_[used_ - 1].positions_so_far;
  std::size_t count = 0;
  for (; count < exits.size(); ++count) {
    Mark& at = marks_[known[exits[count]].block];
    const std::uint32_t position = position_of(at);
    if (position >= positions) break;
    at.walk = walk_;
    at.last = position;
  }
  return count;
}

}  // namespace loopfold::trace
