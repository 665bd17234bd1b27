// From events to runs; see run_encoder.h.
//
// The buffer holds, in the order of the events, up to two candidates and the open path. It is used from front to back
// and moved to the front when it is full, so that a literal is handed out where it stands.
//
// A loop whose runs have many paths and few iterations (an interpreter's main loop) costs more as runs than as
// literals. Such a run's rows are written as literals, and its header is remembered, so that after two of
// them the loop is left alone for a while.
#include "trace/run_encoder.h"

#include <algorithm>
#include <cstring>

namespace loopfold::trace {
namespace {

/// Is a run smaller and faster to read than its iterations as literals?
bool pays(std::uint64_t iterations, std::size_t paths) { return paths <= 2 || iterations >= 4 * paths; }

/// Has a run so many paths so early that it will not pay?
bool hopeless(std::uint64_t iterations, std::size_t paths) { return paths >= 8 && iterations < 2 * paths; }

constexpr std::size_t kReturnEvents = 8;  // a literal of at least this length ends behind a return
constexpr std::uint8_t kLeftAlone = 64;   // how many iterations

}  // namespace

std::vector<std::vector<std::uint64_t>> column_values(const Run& run, std::span<const std::uint64_t> rows) {
  std::vector<std::vector<std::uint64_t>> values(run.columns.size());
  const std::uint64_t* next = rows.data();
  for (std::uint64_t i = 0; i < run.iterations && !rows.empty(); ++i) {
    for (const std::uint32_t column : run.paths[run.path_of(i)].columns) values[column].push_back(*next++);
  }
  return values;
}

RunEncoder::RunEncoder(const Shapes& shapes) : shapes_(shapes), slots_(2 * kMostSlots), run_(shapes) {}

void RunEncoder::reset() { misses_.fill(0); }

bool RunEncoder::take(EventWords& in, std::uint64_t most) {
  const std::uint64_t end = in.events() + most;
  handed_out_ = false;
  while (in.events() != end && !handed_out_) {
    if (following_) {
      run_.follow(in, end - in.events());
    } else if (locked_) {
      run_.step(in, end - in.events());
    } else {
      append_plain_words(in, end - in.events());
    }
    const WordExit* const next = in.front();
    if (next == nullptr || in.events() == end || handed_out_) break;
    const std::span<const ExitShape> known = shapes_.exits();
    if (next->exit >= known.size() || known[next->exit].slots != next->slots) break;
    const ExitShape& shape = known[next->exit];
    if (locked_ || following_ || shape.address == watch_header_ || shape.address == watch_back_) {
      append_slowly(next->exit, in.slots(), next->slots);
    } else {
      append_plainly(next->exit, shape, in.slots(), next->slots);
    }
    in.pass(*next);
  }
  return handed_out_;
}

/// Appends events to the open path as append_plainly() does, up to the first with which control comes to a header or
/// has jumped back to where the path has been, or that makes the path too long.
void RunEncoder::append_plain_words(EventWords& in, std::uint64_t most) {
  const std::span<const ExitShape> known = shapes_.exits();
  const std::span<const WordExit> exits = in.exits();
  const std::uint64_t* at = in.at();
  const std::uint64_t* end = in.end();
  std::uint64_t* const slots = slots_.data();
  std::uint64_t watch_header = watch_header_;
  std::uint64_t watch_back = watch_back_;
  std::uint64_t instructions = 0;
  std::size_t to = end_;
  std::uint32_t slot = slot_at_[to];
  const std::uint32_t last_slot = slot_at_[open_] + kLiteralSlots;
  const std::size_t first = to;
  // The event that fills the path is appended by others, as what makes it overflow.
  const std::size_t last =
      std::min<std::uint64_t>(open_ + kMaxPathEvents - 1, most > kCapacity ? kCapacity : to + most);
  while (to < last) {
    const WordExit* const event = EventWords::find(at, end, exits);
    if (event == nullptr || event->exit >= known.size()) break;
    const ExitShape& shape = known[event->exit];
    if (shape.address == watch_header || shape.slots != event->slots || slot + event->slots > last_slot) break;
    if (shape.address == watch_back && has_been_at(shape.address, to)) break;
    EventWords::copy_slots(at, end, event->slots, slots + slot);
    exits_[to] = event->exit;
    addresses_[to] = shape.address;
    slot_at_[++to] = slot += event->slots;
    watch_header = shape.direct ? header_ : kNoTarget;
    watch_back = shape.back_target;
    if (event->noted != 0) [[unlikely]] {
      in.note(at);
      end = in.end();
    }
    at += std::size_t{1} + event->slots;
    instructions += event->instructions;
  }
  watch_header_ = watch_header;
  watch_back_ = watch_back;
  end_ = to;
  in.go(at, to - first, instructions);
}

/// An event with which control comes to a header or has jumped back, or that a run does not expect that is locked or
/// followed.
void RunEncoder::append_slowly(ExitId exit, const std::uint64_t* slots, std::size_t count) {
  if (locked_ || following_) unlock();
  const ExitShape& shape = shapes_.exits()[exit];
  if (open_ != end_) {
    const ExitShape& before = shapes_.exits()[exits_[end_ - 1]];
    if (before.direct && shape.address == header_) {
      arrive();
    } else if (before.back_target == shape.address) {
      jumped_back(shape.address);
    }
  }
  make_room();
  if (locked_ || following_) {
    if (expected(exit, slots, count)) return;
    unlock();
  }
  append_plainly(exit, shape, slots, count);
}

std::size_t RunEncoder::pending_bytes() const {
  const std::size_t first = candidates_ != 0 ? candidate_at_[0] : open_;
  return (end_ - first) * sizeof(ExitId) + (slot_at_[end_] - slot_at_[first]) * sizeof(std::uint64_t) +
         (running_ ? run_.bytes() : 0);
}

/// Moves what is pending to the front of the buffer, and makes it longer if that is not enough.
void RunEncoder::move_to_front() {
  const std::size_t first = candidates_ != 0 ? candidate_at_[0] : open_;
  const std::uint32_t first_slot = slot_at_[first];
  std::memmove(slots_.data(), slots_.data() + first_slot, (slot_at_[end_] - first_slot) * sizeof(std::uint64_t));
  for (std::size_t i = first; i < end_; ++i) {
    exits_[i - first] = exits_[i];
    addresses_[i - first] = addresses_[i];
  }
  for (std::size_t i = first; i <= end_; ++i) slot_at_[i - first] = slot_at_[i] - first_slot;
  for (std::size_t i = 0; i < candidates_; ++i) candidate_at_[i] -= first;
  open_ -= first;
  end_ -= first;
  if (slot_at_[open_] + kMostSlots > slots_.size()) slots_.resize(2 * (slot_at_[open_] + kMostSlots));
}

/// Control has come to the header of the loop that is being followed.
void RunEncoder::arrive() {
  const std::span<const ExitId> path = exits(open_, end_);
  const std::uint64_t* const slots = slots_.data() + slot_at_[open_];
  if (running_) {
    const std::size_t known = run_.find(path);
    if (known == LiveRun::kNone && !is_iteration(open_, end_)) {
      leave(end_);
      literals(open_, end_);
    } else if (run_.extend(known, path, slots)) {
      if (hopeless(run_.iterations(), run_.paths())) {
        end_run();
      } else {
        follow();
      }
    } else {
      end_run();
      candidate_at_[candidates_++] = open_;
      open_ = end_;
      return;
    }
    open_ = end_ = 0;
  } else if (is_iteration(open_, end_)) {
    candidate_at_[candidates_++] = open_;
    open_ = end_;
    if (candidates_ >= kIterations) establish();
  } else {
    drop_candidates();
    literals(open_, end_);
    open_ = end_ = 0;
  }
}

/// A path started at the header and has come back to it: around the loop, or out of it and in again? Around, if by a
/// backward jump. If by falling into the header, some other jump went back, to a part of the body that stands before
/// the header. All of a body is executed for the first time after its header; the header of an outer loop is older.
bool RunEncoder::is_iteration(std::size_t from, std::size_t to) const {
  const std::span<const ExitShape> known = shapes_.exits();
  const ExitShape& last = known[exits_[to - 1]];
  if (last.back_target == header_) return true;
  if (!last.direct) return false;
  const std::uint32_t header = known[exits_[from]].age;
  bool back = false;
  for (std::size_t i = from + 1; i < to; ++i) {
    const ExitShape& before = known[exits_[i - 1]];
    if (before.back_target != addresses_[i]) continue;
    if (known[exits_[i]].age < header) return false;
    back = true;
  }
  return back;
}

/// Control has jumped back to `target`. If the open path has been there, this closes a cycle, and a loop is followed
/// from now on; there may have been iterations before this one, which came round by falling into the header. If not, it
/// is only a jump.
void RunEncoder::jumped_back(std::uint64_t target) {
  std::size_t first = end_;
  while (first > open_ && addresses_[first - 1] != target) --first;
  if (first == open_) return;
  --first;
  if (running_) leave(first);
  drop_candidates();
  const std::size_t header = find_header(first);
  std::uint8_t& missed = misses(addresses_[header]);
  if (missed >= kPatience) {
    if (++missed == kPatience + kLeftAlone) missed = 0;
    header_ = kNoTarget;
    literals(open_, end_);
    open_ = end_ = 0;
    return;
  }
  header_ = addresses_[header];
  std::size_t begin = header;
  while (candidates_ < kCandidates - 1) {
    std::size_t before = begin;
    while (before > open_ && addresses_[before - 1] != header_) --before;
    if (before == open_ || !is_iteration(before - 1, begin)) break;
    begin = before - 1;
    candidate_at_[candidates_++] = begin;
  }
  std::reverse(candidate_at_.begin(), candidate_at_.begin() + static_cast<std::ptrdiff_t>(candidates_));
  literals(open_, begin);
  open_ = header;
  if (header == first) {
    candidate_at_[candidates_++] = first;
    open_ = end_;
    if (candidates_ >= kIterations) establish();
  }
}

/// Where the header of the cycle from `first` to the end is: the code that was executed first of all, calls apart.
std::size_t RunEncoder::find_header(std::size_t first) const {
  const std::span<const ExitShape> known = shapes_.exits();
  std::size_t header = first;
  int depth = 0;
  for (std::size_t i = first; i < end_; ++i) {
    const ExitShape& shape = known[exits_[i]];
    if (depth == 0 && shape.age < known[exits_[header]].age) header = i;
    depth += (shape.calls ? 1 : 0) - (shape.returns ? 1 : 0);
  }
  return header;
}

/// The candidates become a run, if it can hold them.
void RunEncoder::establish() {
  run_.clear(header_);
  std::size_t taken = 0;
  for (; taken < candidates_; ++taken) {
    const std::size_t from = candidate_at_[taken];
    const std::size_t to = taken + 1 < candidates_ ? candidate_at_[taken + 1] : open_;
    const std::span<const ExitId> path = exits(from, to);
    if (!run_.extend(run_.find(path), path, slots_.data() + slot_at_[from])) break;
  }
  if (taken == candidates_) {
    running_ = true;
    candidates_ = 0;
    open_ = end_ = 0;
    locked_ = run_.lock();
    if (!locked_) follow();
  } else {
    drop_candidates();
    open_ = end_ = 0;
  }
}

/// Cuts the run's last iteration off the open path, from which it takes nothing from `limit` on, and ends the run.
void RunEncoder::leave(std::size_t limit) {
  const std::size_t inside = run_.covered(exits(open_, limit));
  if (inside != 0 && run_.finish(exits(open_, open_ + inside), slots_.data() + slot_at_[open_])) open_ += inside;
  end_run();
}

void RunEncoder::end_run() {
  running_ = false;
  handed_out_ = true;
  const Run& run = run_.view();
  std::span<const std::uint64_t> rows = run_.rows();
  if (pays(run.iterations, run.paths.size())) {
    misses(header_) = 0;
    sink_->loop(run, rows);
    return;
  }
  ++misses(header_);
  for (std::uint64_t i = 0; i < run.iterations; ++i) {
    const RunPath& path = run.paths[run.path_of(i)];
    sink_->literal(path.exits, rows.first(path.columns.size()));
    rows = rows.subspan(path.columns.size());
  }
}

/// The open path is as long as a path can be. Its second half may be the beginning of an iteration.
void RunEncoder::overflow() {
  if (running_) leave(end_);
  drop_candidates();
  header_ = kNoTarget;
  if (slot_at_[end_] - slot_at_[open_] > kLiteralSlots) {
    literals(open_, end_);
    open_ = end_ = 0;
  } else if (end_ - open_ >= kMaxPathEvents) {
    literals(open_, open_ + kMaxPathEvents / 2);
    open_ += kMaxPathEvents / 2;
  }
  make_room();
}

void RunEncoder::drop_candidates() {
  for (std::size_t i = 0; i < candidates_; ++i)
    literals(candidate_at_[i], i + 1 < candidates_ ? candidate_at_[i + 1] : open_);
  candidates_ = 0;
}

/// Hands out the events as literals, cut where they are likely to repeat.
void RunEncoder::literals(std::size_t from, std::size_t to) {
  const std::span<const ExitShape> known = shapes_.exits();
  handed_out_ |= from < to;
  while (from < to) {
    const std::size_t most = std::min(to, from + kLiteralEvents);
    std::size_t end = from + 1;
    while (end < most && slot_at_[end + 1] - slot_at_[from] <= kLiteralSlots &&
           !(known[exits_[end - 1]].returns && end - from >= kReturnEvents))
      ++end;
    sink_->literal(exits(from, end), {slots_.data() + slot_at_[from], slot_at_[end] - slot_at_[from]});
    from = end;
  }
}

/// Another iteration of the run begins.
void RunEncoder::follow() {
  following_ = true;
  run_.begin_following();
}

/// The run's next event was not the expected one: puts what was taken in of the iteration into the open path.
void RunEncoder::unlock() {
  const LiveRun::Partial partial = locked_ ? run_.unlock() : run_.stop_following();
  locked_ = following_ = false;
  std::uint32_t slot = 0;
  for (std::size_t i = 0; i < partial.exits.size(); ++i) {
    exits_[i] = partial.exits[i];
    slot_at_[i] = slot;
    addresses_[i] = shapes_.exits()[exits_[i]].address;
    slot += shapes_.exits()[exits_[i]].slots;
  }
  open_ = 0;
  end_ = partial.exits.size();
  candidates_ = 0;
  slot_at_[end_] = slot;
  std::copy_n(partial.slots, slot, slots_.begin());
}

void RunEncoder::finish() {
  if (locked_ || following_) unlock();
  if (running_) leave(end_);
  drop_candidates();
  header_ = kNoTarget;
  literals(open_, end_);
  open_ = end_ = 0;
}

}  // namespace loopfold::trace
