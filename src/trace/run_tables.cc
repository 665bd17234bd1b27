// The tables of a chunk of runs; see run_tables.h.
#include "trace/run_tables.h"

#include <algorithm>

namespace loopfold::trace {

std::size_t IdMap::place(std::uint32_t key) const {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = (key * 0x9e3779b1u ^ key >> 15) & mask;
  while (entries_[at].key != kNone && entries_[at].key != key) at = (at + 1) & mask;
  return at;
}

std::uint32_t IdMap::find(std::uint32_t key) const { return entries_.empty() ? kNone : entries_[place(key)].value; }

void IdMap::set(std::uint32_t key, std::uint32_t value) {
  if (4 * (used_ + 1) > 3 * entries_.size()) {
    std::vector<Entry> old(std::max<std::size_t>(64, 2 * entries_.size()));
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.key != kNone) entries_[place(entry.key)] = entry;
    }
  }
  Entry& entry = entries_[place(key)];
  used_ += entry.key == kNone ? 1 : 0;
  entry = {key, value};
}

void IdMap::clear() {
  if (used_ != 0) std::fill(entries_.begin(), entries_.end(), Entry{});
  used_ = 0;
}

void SlotRows::clear() {
  by_block_.clear();
  rows_.clear();
  predictors_.clear();
  history_.clear();
}

std::uint32_t SlotRows::row(BlockId block, std::uint32_t slots) {
  const std::uint32_t known = by_block_.find(block);
  if (known != IdMap::kNone && rows_[known].slots >= slots) return rows_[known].base;
  const std::uint32_t base = static_cast<std::uint32_t>(predictors_.size());
  predictors_.resize(predictors_.size() + slots);
  by_block_.set(block, static_cast<std::uint32_t>(rows_.size()));
  rows_.push_back({base, slots});
  return base;
}

void ItemPredictor::clear() {
  table_.fill(kNone);
  context_ = previous_ = 0;
}

void RunTables::clear() {
  paths_.clear();
  loops_.clear();
  slots_ = columns_ = 0;
  exits_.clear();
  steps_.clear();
  numbers_.clear();
  column_memory_.clear();
  run_paths_.clear();
  run_columns_.clear();
}

std::uint32_t RunTables::add_path(std::span<const ExitId> exits, const Shapes& shapes) {
  const std::span<ExitId> kept = exits_.allocate(exits.size());
  std::copy(exits.begin(), exits.end(), kept.begin());
  Path path;
  path.shape.exits = kept;
  for (const ExitId exit : exits) {
    path.shape.slots += shapes.exits()[exit].slots;
    path.shape.instructions += shapes.exits()[exit].instructions;
  }
  slots_ += path.shape.slots + exits.size();
  paths_.push_back(path);
  return static_cast<std::uint32_t>(paths_.size() - 1);
}

void RunTables::plan(std::size_t number, SlotClass slot_class, const Shapes& shapes, SlotRows& rows) {
  Path& path = paths_[number];
  const bool wants_control = slot_class == SlotClass::kControl;
  std::size_t control = 0;
  for (const ExitId exit : path.shape.exits) control += shapes.exits()[exit].control_slots;
  const std::span<Step> steps = steps_.allocate(wants_control ? control : path.shape.slots - control);
  std::size_t next = 0;
  std::uint32_t first = 0;
  for (const ExitId exit : path.shape.exits) {
    const ExitShape& shape = shapes.exits()[exit];
    std::span<const std::uint16_t> marked = shapes.control_slots(shape);
    if (wants_control ? !marked.empty() : marked.size() < shape.slots) {
      const std::uint32_t row = rows.row(shape.block, shape.slots);
      for (std::uint32_t slot = 0; slot < shape.slots; ++slot) {
        const bool is_control = !marked.empty() && marked.front() == slot;
        if (is_control) marked = marked.subspan(1);
        if (is_control == wants_control) steps[next++] = {first + slot, row + slot};
      }
    }
    first += shape.slots;
  }
  path.steps[static_cast<std::size_t>(slot_class)] = steps;
  path.planned[static_cast<std::size_t>(slot_class)] = true;
}

std::uint32_t RunTables::add_loop(std::span<const std::uint32_t> paths, std::span<const RunPath> shapes,
                                  std::span<const RunColumn> columns) {
  Loop loop;
  const std::span<std::uint32_t> numbers = numbers_.allocate(paths.size());
  std::copy(paths.begin(), paths.end(), numbers.begin());
  loop.paths = numbers;
  loop.columns = column_memory_.allocate(columns.size());
  loop.view = run_columns_.allocate(columns.size());
  loop.shapes = run_paths_.allocate(shapes.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    loop.columns[i] = {};
    loop.columns[i].slot_class = columns[i].control ? SlotClass::kControl : SlotClass::kData;
    loop.view[i] = columns[i];
  }
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    const std::span<std::uint32_t> kept = numbers_.allocate(shapes[p].columns.size());
    std::copy(shapes[p].columns.begin(), shapes[p].columns.end(), kept.begin());
    loop.shapes[p] = paths_[paths[p]].shape;
    loop.shapes[p].columns = kept;
    for (const std::uint32_t column : kept) loop.columns[column].paths |= std::uint32_t{1} << p;
  }
  columns_ += columns.size() + kMaxRunPaths;
  loops_.push_back(loop);
  return static_cast<std::uint32_t>(loops_.size() - 1);
}

}  // namespace loopfold::trace
