// A run that is still growing; see live_run.h.
//
// A column is judged by the iteration number and not by how often it was seen, so the paths of a run need no counters
// of their own, and an iteration costs nothing for columns that are not present in it.
//
// A path keeps two lists, its slots in regular and in irregular columns, so that an ordinary iteration is two loops
// without decisions. When a column changes its state all lists are out of date and are made again when they are needed;
// that happens at most twice per column and run.
#include "trace/live_run.h"

#include <algorithm>

namespace loopfold::trace {
namespace {

/// What the value lists may hold on to between runs, in values.
constexpr std::size_t kMostCapacity = std::size_t{1} << 20;

bool equal(std::span<const ExitId> a, std::span<const ExitId> b) {
  if (a.size() != b.size()) return false;
  std::uint32_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different |= a[i] ^ b[i];
  return different == 0;
}

}  // namespace

void LiveRun::clear() {
  if (value_count_ > kMaxValues / 8) {
    std::size_t capacity = 0;
    for (const std::vector<std::uint64_t>& values : values_) capacity += values.capacity();
    if (capacity > kMostCapacity) values_.clear();
  }
  if (body_.paths() > 1) uses_.fill(0);
  uses_[0] = 0;
  body_.clear();
  iterations_ = 0;
  last_path_ = 0;
  sequence_.clear();
  mixed_ = false;
  ++version_;
  columns_ = 0;
  value_count_ = 0;
}

std::size_t LiveRun::find(std::span<const ExitId> exits) const {
  if (body_.paths() == 0) return kNone;
  if (equal(body_.exits(last_path_), exits)) return last_path_;
  for (std::size_t path = 0; path < body_.paths(); ++path) {
    if (equal(body_.exits(path), exits)) return path;
  }
  return kNone;
}

/// Adds a path to the body, or returns kNone if it does not fit.
std::size_t LiveRun::add_path(std::span<const ExitId> exits) {
  if (!body_.add(exits, shapes_)) return kNone;
  const std::size_t path = body_.paths() - 1;
  for (; columns_ < body_.columns().size(); ++columns_) {
    states_[columns_] = State::kUnseen;
    starts_[columns_] = strides_[columns_] = 0;
  }
  plans_[path].version = 0;
  return path;
}

bool LiveRun::extend(std::size_t path, std::span<const ExitId> exits, const std::uint64_t* slots) {
  if (path == kNone) {
    // Any column may break where paths meet; written out, the run must still be small enough.
    std::uint64_t most = 0;
    for (const ExitId exit : exits) most += shapes_.exits()[exit].slots;
    if (value_count_ + most * (iterations_ + 1) > kMaxValues || iterations_ >= kMaxMixed) return false;
    path = add_path(exits);
    if (path == kNone) return false;
    if (path == 1) {
      mixed_ = true;
      sequence_.assign(iterations_, 0);
    }
  } else if (mixed_ && iterations_ >= kMaxMixed) {
    return false;
  }
  if (plans_[path].version != version_) plan(path);
  const PathPlan& planned = plans_[path];
  if (value_count_ + body_.columns(path).size() > kMaxValues) return false;
  std::uint64_t different = planned.settled ? 0 : 1;
  for (const RegularSlot& place : planned.regular)
    different |= slots[place.slot] ^ (place.start + place.stride * iterations_);
  if (different == 0) {
    for (const IrregularSlot& place : planned.irregular) values_[place.column].push_back(slots[place.slot]);
    value_count_ += planned.irregular.size();
  } else {
    if (value_count_ + count_breaks(path, slots) * (iterations_ + 1) > kMaxValues) return false;
    take_slowly(path, slots);
  }
  count_iteration(path);
  return true;
}

bool LiveRun::finish(std::span<const ExitId> exits, const std::uint64_t* slots) {
  std::size_t path = find(exits);
  const bool known = path != kNone;
  const std::size_t columns_before = columns_;
  if (!known) path = add_path(exits);
  if (path == kNone || value_count_ + body_.columns(path).size() > kMaxValues) return false;
  if (count_breaks(path, slots) != 0) {
    if (!known) {
      body_.remove_last(columns_before, shapes_);
      columns_ = columns_before;
    }
    return false;
  }
  take_slowly(path, slots);
  count_iteration(path);
  return true;
}

/// How many regular columns of the path these slots would make irregular.
std::size_t LiveRun::count_breaks(std::size_t path, const std::uint64_t* slots) const {
  const std::span<const std::uint32_t> columns = body_.columns(path);
  std::size_t breaks = 0;
  for (std::size_t i = 0; i < columns.size(); ++i)
    breaks += states_[columns[i]] == State::kRegular && slots[i] != expected(columns[i]) ? 1 : 0;
  return breaks;
}

/// Takes in the slots of an iteration, whatever the state of their columns.
void LiveRun::take_slowly(std::size_t path, const std::uint64_t* slots) {
  const std::span<const std::uint32_t> columns = body_.columns(path);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::uint32_t column = columns[i];
    const std::uint64_t value = slots[i];
    switch (states_[column]) {
      case State::kUnseen:
        states_[column] = State::kOnce;
        starts_[column] = value;
        seen_[column] = iterations_;
        break;
      case State::kOnce:
        if (second_value(column, value)) break;
        make_irregular(column);
        [[fallthrough]];
      case State::kIrregular:
        values_[column].push_back(value);
        ++value_count_;
        break;
      case State::kRegular:
        if (value == expected(column)) break;
        make_irregular(column);
        values_[column].push_back(value);
        ++value_count_;
        break;
    }
  }
  ++version_;
}

/// A column is present for the second time: makes it regular if its stride is a whole number.
bool LiveRun::second_value(std::uint32_t column, std::uint64_t value) {
  const std::int64_t step = static_cast<std::int64_t>(value - starts_[column]);
  const std::int64_t gap = static_cast<std::int64_t>(iterations_ - seen_[column]);
  if (gap != 1 && step % gap != 0) return false;
  strides_[column] = static_cast<std::uint64_t>(step / gap);
  starts_[column] = value - strides_[column] * iterations_;
  states_[column] = State::kRegular;
  return true;
}

/// Writes out what the column was in the iterations so far in which it was present.
void LiveRun::make_irregular(std::uint32_t column) {
  if (column >= values_.size()) values_.resize(column + std::size_t{1});
  std::vector<std::uint64_t>& values = values_[column];
  values.clear();
  std::array<bool, kMaxRunPaths> present{};
  for (std::size_t path = 0; path < body_.paths(); ++path) {
    const std::span<const std::uint32_t> columns = body_.columns(path);
    present[path] = std::find(columns.begin(), columns.end(), column) != columns.end();
  }
  for (std::uint64_t i = 0; i < iterations_; ++i) {
    if (present[mixed_ ? sequence_[i] : 0]) values.push_back(starts_[column] + strides_[column] * i);
  }
  value_count_ += values.size();
  starts_[column] = strides_[column] = 0;
  states_[column] = State::kIrregular;
}

void LiveRun::plan(std::size_t path) {
  PathPlan& plan = plans_[path];
  plan.version = version_;
  plan.settled = true;
  plan.regular.clear();
  plan.irregular.clear();
  const std::span<const std::uint32_t> columns = body_.columns(path);
  for (std::uint32_t i = 0; i < columns.size(); ++i) {
    const State state = states_[columns[i]];
    if (state == State::kRegular) plan.regular.push_back({i, starts_[columns[i]], strides_[columns[i]]});
    if (state == State::kIrregular) plan.irregular.push_back({i, columns[i]});
    plan.settled &= state == State::kRegular || state == State::kIrregular;
  }
}

/// The iteration was taken in: on to the next.
void LiveRun::count_iteration(std::size_t path) {
  if (mixed_) sequence_.push_back(static_cast<std::uint8_t>(path));
  ++uses_[path];
  last_path_ = path;
  ++iterations_;
}

bool LiveRun::lock() {
  if (body_.paths() != 1 || !std::all_of(states_.begin(), states_.begin() + static_cast<std::ptrdiff_t>(columns_),
                                         [](State state) { return state == State::kRegular; }))
    return false;
  const std::span<const ExitId> exits = body_.exits(0);
  lock_exits_ = exits.data();
  lock_length_ = static_cast<std::uint32_t>(exits.size());
  for (std::size_t i = 0; i < exits.size(); ++i) lock_counts_[i] = shapes_.exits()[exits[i]].slots;
  for (std::uint32_t i = 0; i < columns_; ++i) expected_[i] = expected(i);
  lock_event_ = lock_slot_ = 0;
  return true;
}

LiveRun::Partial LiveRun::unlock() {
  uses_[0] = iterations_;
  return {{lock_exits_, lock_event_}, expected_.data()};
}

const Run& LiveRun::view() {
  view_ = {};
  view_.iterations = iterations_;
  view_paths_.clear();
  for (std::size_t path = 0; path < body_.paths(); ++path) {
    const std::span<const std::uint32_t> columns = body_.columns(path);
    view_paths_.push_back({body_.exits(path), columns, columns.size(), body_.instructions(path)});
    view_.events += uses_[path] * body_.exits(path).size();
    view_.instructions += uses_[path] * body_.instructions(path);
  }
  view_columns_.resize(columns_);
  for (std::size_t i = 0; i < columns_; ++i) {
    const RunBody::Column& column = body_.columns()[i];
    const bool irregular = states_[i] == State::kIrregular;
    view_columns_[i] = {irregular ? RunColumn::Kind::kIrregular : RunColumn::Kind::kRegular,
                        column.control,
                        column.block,
                        column.slot,
                        starts_[i],
                        strides_[i],
                        {}};
    if (irregular) view_columns_[i].values = values_[i];
  }
  const bool plain = !mixed_ || (body_.paths() == 2 && uses_[1] == 1 && last_path_ == 1);
  view_.paths = view_paths_;
  view_.columns = view_columns_;
  if (!plain) view_.sequence = sequence_;
  return view_;
}

}  // namespace loopfold::trace
