// A run that is still growing; see live_run.h.
//
// A column is judged by the iteration number and not by how often it was seen, so the paths of a run need no counters
// of their own, and an iteration costs nothing for columns that are not present in it.
//
// A path keeps a list of its slots in regular columns, so that an ordinary iteration is a loop without decisions and a
// copy. When a column changes its state all lists are out of date and are made again when they are needed; that happens
// at most three times per column and run. A path's first iterations, in which most columns settle, do without a list.
#include "trace/live_run.h"

#include <algorithm>
#include <cstring>

namespace loopfold::trace {
namespace {

bool equal(std::span<const ExitId> a, std::span<const ExitId> b) {
  if (a.size() != b.size()) return false;
  std::uint32_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different |= a[i] ^ b[i];
  return different == 0;
}

}  // namespace

void LiveRun::clear(std::uint64_t header) {
  if (body_->paths() > 1) uses_.fill(0);
  uses_[0] = 0;
  body_ = &bodies_[(header ^ header >> 4 ^ header >> 7) % kBodies];
  body_->restart();
  iterations_ = 0;
  last_path_ = 0;
  sequence_.clear();
  mixed_ = false;
  ++version_;
  columns_ = 0;
  stored_ = true;
  used_ = 0;
  tree_paths_ = 0;
}

std::size_t LiveRun::find(std::span<const ExitId> exits) const {
  if (body_->paths() == 0) return kNone;
  if (equal(body_->exits(last_path_), exits)) return last_path_;
  for (std::size_t path = 0; path < body_->paths(); ++path) {
    if (equal(body_->exits(path), exits)) return path;
  }
  return kNone;
}

/// Adds a path to the body, or returns kNone if it does not fit.
std::size_t LiveRun::add_path(std::span<const ExitId> exits) {
  if (!body_->add(exits, shapes_)) return kNone;
  const std::size_t path = body_->paths() - 1;
  for (; columns_ < body_->columns().size(); ++columns_) {
    states_[columns_] = State::kUnseen;
    starts_[columns_] = strides_[columns_] = 0;
  }
  plans_[path].version = 0;
  return path;
}

/// A run that was locked goes on in another way: makes up its rows, unless they are too many.
bool LiveRun::store_rows() {
  const std::span<const std::uint32_t> columns = body_->columns(0);
  if (columns.size() * iterations_ > kMaxValues) return false;
  stored_ = true;
  used_ = 0;
  std::vector<std::uint64_t> row(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) row[i] = starts_[columns[i]];
  for (std::uint64_t n = 0; n < iterations_; ++n) {
    add_row(row.data(), row.size());
    for (std::size_t i = 0; i < columns.size(); ++i) row[i] += strides_[columns[i]];
  }
  return true;
}

void LiveRun::add_row(const std::uint64_t* slots, std::size_t count) {
  if (used_ + count > rows_.size()) [[unlikely]]
    rows_.resize(std::max<std::size_t>(4096, 2 * (used_ + count)));
  std::uint64_t* const to = rows_.data() + used_;
  for (std::size_t i = 0; i < count; ++i) to[i] = slots[i];
  used_ += count;
}

bool LiveRun::extend(std::size_t path, std::span<const ExitId> exits, const std::uint64_t* slots) {
  if (!stored_ && !store_rows()) return false;
  if (path == kNone) {
    std::size_t count = 0;
    for (const ExitId exit : exits) count += shapes_.exits()[exit].slots;
    if (used_ + count > kMaxValues || iterations_ >= kMaxMixed) return false;
    path = add_path(exits);
    if (path == kNone) return false;
    if (path == 1) {
      mixed_ = true;
      sequence_.assign(iterations_, 0);
    }
  } else if (mixed_ && iterations_ >= kMaxMixed) {
    return false;
  }
  const std::size_t count = body_->columns(path).size();
  if (used_ + count > kMaxValues) return false;
  take(path, slots);
  add_row(slots, count);
  count_iteration(path);
  return true;
}

bool LiveRun::finish(std::span<const ExitId> exits, const std::uint64_t* slots) {
  std::size_t path = find(exits);
  const bool known = path != kNone;
  const std::size_t columns_before = columns_;
  if (!known) path = add_path(exits);
  if (path == kNone || used_ + body_->columns(path).size() > kMaxValues) return false;
  if (count_breaks(path, slots) != 0) {
    if (!known) {
      body_->remove_last();
      columns_ = columns_before;
    }
    return false;
  }
  take_slowly(path, slots);
  if (stored_) add_row(slots, body_->columns(path).size());
  count_iteration(path);
  return true;
}

/// How many regular columns of the path these slots would make irregular.
std::size_t LiveRun::count_breaks(std::size_t path, const std::uint64_t* slots) const {
  const std::span<const std::uint32_t> columns = body_->columns(path);
  std::size_t breaks = 0;
  for (std::size_t i = 0; i < columns.size(); ++i)
    breaks += states_[columns[i]] == State::kRegular && slots[i] != expected(columns[i]) ? 1 : 0;
  return breaks;
}

/// Teaches the columns the slots of an iteration, whatever their state.
void LiveRun::take_slowly(std::size_t path, const std::uint64_t* slots) {
  const std::span<const std::uint32_t> columns = body_->columns(path);
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
        if (!second_value(column, value)) states_[column] = State::kIrregular;
        break;
      case State::kRegular:
        if (value != expected(column)) states_[column] = State::kIrregular;
        break;
      case State::kIrregular:
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

void LiveRun::plan(std::size_t path) {
  PathPlan& plan = plans_[path];
  plan.version = version_;
  plan.settled = true;
  const std::span<const std::uint32_t> columns = body_->columns(path);
  if (plan.regular.size() < columns.size()) plan.regular.resize(columns.size());
  RegularSlot* to = plan.regular.data();
  for (std::uint32_t i = 0; i < columns.size(); ++i) {
    const std::uint32_t column = columns[i];
    const State state = states_[column];
    if (state == State::kRegular) *to++ = {i, starts_[column], strides_[column]};
    plan.settled &= state == State::kRegular || state == State::kIrregular;
  }
  plan.count = static_cast<std::size_t>(to - plan.regular.data());
}

/// The iteration was taken in: on to the next.
void LiveRun::count_iteration(std::size_t path) {
  if (mixed_) sequence_.push_back(static_cast<std::uint8_t>(path));
  ++uses_[path];
  last_path_ = path;
  ++iterations_;
}

bool LiveRun::lock() {
  if (body_->paths() != 1 || !std::all_of(states_.begin(), states_.begin() + static_cast<std::ptrdiff_t>(columns_),
                                          [](State state) { return state == State::kRegular; }))
    return false;
  const std::span<const ExitId> exits = body_->exits(0);
  lock_exits_ = exits.data();
  lock_length_ = static_cast<std::uint32_t>(exits.size());
  for (std::size_t i = 0; i < exits.size(); ++i) lock_counts_[i] = shapes_.exits()[exits[i]].slots;
  for (std::uint32_t i = 0; i < columns_; ++i) expected_[i] = expected(i);
  lock_event_ = lock_slot_ = 0;
  pattern_.clear();
  stored_ = false;
  used_ = 0;
  return true;
}

void LiveRun::step(EventWords& in, std::uint64_t most) {
  const std::uint64_t first = in.events();
  const std::uint64_t length = lock_length_;
  while (in.events() - first < most) {
    if (lock_event_ == 0 && most - (in.events() - first) >= length) {
      const std::size_t noted = in.noted().size();
      if (!step_whole(in)) return;
      const std::uint64_t left = (most - (in.events() - first)) / length;
      if (in.noted().size() == noted && left != 0) step_words(in, left);
      continue;
    }
    const WordExit* const next = in.front();
    if (next == nullptr || !step(next->exit, in.slots(), next->slots)) return;
    in.pass(*next);
  }
}

/// Takes in the next events up to the end of the iteration; false if not all of them are expected.
bool LiveRun::step_whole(EventWords& in) {
  const std::uint64_t iteration = iterations_;
  while (iterations_ == iteration) {
    const WordExit* const next = in.front();
    if (next == nullptr || !step(next->exit, in.slots(), next->slots)) return false;
    in.pass(*next);
  }
  return true;
}

/// Takes in up to `most` whole iterations that repeat the one which was just passed over.
void LiveRun::step_words(EventWords& in, std::uint64_t most) {
  const std::size_t length = lock_length_ + columns_;
  most = std::min<std::uint64_t>(most, static_cast<std::size_t>(in.end() - in.at()) / length);
  if (most == 0) return;
  if (!pattern_.ready()) pattern_.set(std::span(lock_counts_).first(lock_length_), std::span(strides_).first(columns_));
  const std::uint64_t taken = pattern_.expected(in.at(), most * length) / length;
  if (taken == 0) return;
  iterations_ += taken;
  for (std::size_t i = 0; i < columns_; ++i) expected_[i] += strides_[i] * taken;
  in.go(in.at() + taken * length, taken * lock_length_, taken * body_->instructions(0));
}

LiveRun::Partial LiveRun::unlock() {
  uses_[0] = iterations_;
  return {{lock_exits_, lock_event_}, expected_.data()};
}

void LiveRun::begin_following() {
  if (tree_paths_ == 0) nodes_.assign(1, {});
  for (; tree_paths_ < body_->paths(); ++tree_paths_) {
    std::uint32_t at = 0;
    for (const ExitId exit : body_->exits(tree_paths_)) {
      std::uint32_t next = nodes_[at].child;
      while (next != 0 && nodes_[next].exit != exit) next = nodes_[next].sibling;
      if (next == 0) {
        next = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({exit, shapes_.exits()[exit].slots, 0, nodes_[at].child, at, kNoPath});
        nodes_[at].child = next;
      }
      at = next;
    }
    nodes_[at].path = static_cast<std::uint32_t>(tree_paths_);
  }
  node_ = 0;
  begin_row();
}

void LiveRun::follow(EventWords& in, std::uint64_t most) {
  const std::span<const WordExit> exits = in.exits();
  const std::uint64_t* at = in.at();
  const std::uint64_t* end = in.end();
  const Node* const nodes = nodes_.data();
  std::uint64_t* to = rows_.data() + filled_;
  std::uint32_t node = node_;
  std::uint64_t instructions = 0;
  std::uint64_t taken = 0;
  while (taken < most) {
    const WordExit* const event = EventWords::find(at, end, exits);
    if (event == nullptr) break;
    std::uint32_t next = child_of(nodes, node, event->exit);
    if (next == 0) {
      if (nodes[node].path == kNoPath) break;
      next = child_of(nodes, 0, event->exit);
      if (next == 0 || event->slots != nodes[next].count) break;
      filled_ = static_cast<std::size_t>(to - rows_.data());
      if (!end_path(nodes[node].path)) break;
      to = rows_.data() + filled_;
    } else if (event->slots != nodes[next].count) {
      break;
    }
    node = next;
    EventWords::copy_slots(at, end, event->slots, to);
    to += event->slots;
    if (event->noted != 0) [[unlikely]] {
      in.note(at);
      end = in.end();
    }
    at += std::size_t{1} + event->slots;
    instructions += event->instructions;
    ++taken;
  }
  node_ = node;
  filled_ = static_cast<std::size_t>(to - rows_.data());
  in.go(at, taken, instructions);
}

/// Takes in the iteration that was followed to the end of the path. False, and nothing changes, if the run has become
/// too large for it.
bool LiveRun::end_path(std::size_t path) {
  if (filled_ > kMaxValues || (mixed_ && iterations_ >= kMaxMixed)) return false;
  take(path, rows_.data() + used_);
  used_ = filled_;
  begin_row();
  count_iteration(path);
  return true;
}

LiveRun::Partial LiveRun::stop_following() {
  std::size_t first = followed_.size();
  for (std::uint32_t at = node_; at != 0; at = nodes_[at].parent) followed_[--first] = nodes_[at].exit;
  return {std::span(followed_).subspan(first), rows_.data() + used_};
}

const Run& LiveRun::view() {
  view_ = {};
  view_.iterations = iterations_;
  view_paths_.clear();
  for (std::size_t path = 0; path < body_->paths(); ++path) {
    const std::span<const std::uint32_t> columns = body_->columns(path);
    view_paths_.push_back({body_->exits(path), columns, columns.size(), body_->instructions(path)});
    view_.events += uses_[path] * body_->exits(path).size();
    view_.instructions += uses_[path] * body_->instructions(path);
  }
  view_columns_.resize(columns_);
  for (std::size_t i = 0; i < columns_; ++i) {
    const RunBody::Column& column = body_->columns()[i];
    const bool irregular = states_[i] == State::kIrregular;
    view_columns_[i] = {irregular ? RunColumn::Kind::kIrregular : RunColumn::Kind::kRegular,
                        body_->is_control(column),
                        column.block,
                        column.slot,
                        irregular ? 0 : starts_[i],
                        irregular ? 0 : strides_[i],
                        {}};
  }
  const bool plain = !mixed_ || (body_->paths() == 2 && uses_[1] == 1 && last_path_ == 1);
  view_.paths = view_paths_;
  view_.columns = view_columns_;
  if (!plain) view_.sequence = sequence_;
  return view_;
}

}  // namespace loopfold::trace
