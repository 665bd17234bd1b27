// From events to runs; see run_encoder.h.
//
// The buffer holds, in the order of the events, up to two candidates and the open path. It is used from front to back
// and moved to the front when it is full, so that a literal is handed out where it stands.
//
// A loop whose runs have many paths and few iterations (an interpreter's main loop) costs more as runs than as
// literals. Such a run is expanded again and written as literals, and its header is remembered, so that after two of
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

RunEncoder::RunEncoder(const Shapes& shapes) : shapes_(shapes), slots_(std::size_t{1} << 15), run_(shapes) {}

void RunEncoder::reset() { misses_.fill(0); }

void RunEncoder::append(ExitId exit, const std::uint64_t* slots, std::size_t count) {
  if (locked_) [[unlikely]]
    unlock();
  const std::uint32_t at = slot_at_[end_];
  if (end_ + 1 >= kCapacity || at + count > slots_.size()) [[unlikely]] {
    make_room(count);
    return append(exit, slots, count);
  }
  std::uint64_t* to = slots_.data() + at;
  for (std::size_t i = 0; i < count; ++i) to[i] = slots[i];
  exits_[end_] = exit;
  slot_at_[++end_] = at + static_cast<std::uint32_t>(count);
  const ExitShape& shape = shapes_.exits()[exit];
  if (shape.backward) {
    close(shape.target);
  } else if (open_length() >= kMaxPathEvents || slot_at_[end_] - slot_at_[open_] > kLiteralSlots) [[unlikely]] {
    overflow();
  }
}

/// Moves what is pending to the front, and makes the buffer for slots longer if that is not enough.
void RunEncoder::make_room(std::size_t slots) {
  const std::size_t first = candidates_ != 0 ? candidate_at_[0] : open_;
  const std::uint32_t first_slot = slot_at_[first];
  const std::size_t used = slot_at_[end_] - first_slot;
  std::memmove(slots_.data(), slots_.data() + first_slot, used * sizeof(std::uint64_t));
  for (std::size_t i = first; i <= end_; ++i) {
    if (i != end_) exits_[i - first] = exits_[i];
    slot_at_[i - first] = slot_at_[i] - first_slot;
  }
  for (std::size_t i = 0; i < candidates_; ++i) candidate_at_[i] -= first;
  open_ -= first;
  end_ -= first;
  if (used + slots > slots_.size()) slots_.resize(2 * (used + slots));
}

/// The last event jumps back to `target`.
void RunEncoder::close(std::uint64_t target) {
  if (running_) {
    if (continues_run(target)) {
      if (run_.extend(exits(open_, end_), slots_.data() + slot_at_[open_])) {
        open_ = end_ = 0;
        if (hopeless(run_.iterations(), run_.paths())) end_run();
        return;
      }
      end_run();
    } else {
      leave();
      if (open_length() == 0) return;
    }
  }
  close_open(target);
}

/// Is the open path an iteration of the run? A new path that comes by the header again is the last iteration, what
/// follows the loop, and the first iteration of the next time.
bool RunEncoder::continues_run(std::uint64_t target) {
  if (target != header_ || address(open_) != header_) return false;
  if (open_length() == 1 || run_.knows(exits(open_, end_))) return true;
  for (std::size_t i = open_ + 1; i < end_; ++i) {
    if (address(i) == header_) return false;
  }
  return true;
}

/// The same, without a run.
void RunEncoder::close_open(std::uint64_t target) {
  if (candidates_ != 0 && header_ == target && address(open_) == target) {
    candidate_at_[candidates_++] = open_;
    open_ = end_;
    if (candidates_ == kCandidates) establish();
    return;
  }
  drop_candidates();
  std::size_t split = end_;
  while (split > open_ && address(split - 1) != target) --split;
  std::uint8_t& missed = misses(target);
  if (split == open_ || missed >= kPatience) {
    if (missed >= kPatience && ++missed == kPatience + kLeftAlone) missed = 0;
    literals(open_, end_);
    open_ = end_ = 0;
    return;
  }
  --split;
  literals(open_, split);
  candidate_at_[0] = split;
  candidates_ = 1;
  header_ = target;
  open_ = end_;
}

/// The candidates become a run, if it can hold them.
void RunEncoder::establish() {
  run_.clear();
  std::size_t taken = 0;
  for (; taken < kCandidates; ++taken) {
    const std::size_t from = candidate_at_[taken];
    const std::size_t to = taken + 1 < kCandidates ? candidate_at_[taken + 1] : open_;
    if (!run_.extend(exits(from, to), slots_.data() + slot_at_[from])) break;
  }
  if (taken == kCandidates) {
    running_ = true;
    candidates_ = 0;
    open_ = end_ = 0;
    locked_ = run_.lock();
  } else {
    drop_candidates();
    open_ = end_ = 0;
  }
}

/// Cuts the run's last iteration off the open path and ends the run.
void RunEncoder::leave() {
  const std::size_t inside = run_.covered(exits(open_, end_));
  if (inside != 0 && run_.finish(exits(open_, open_ + inside), slots_.data() + slot_at_[open_])) open_ += inside;
  end_run();
  if (open_ == end_) open_ = end_ = 0;
}

void RunEncoder::end_run() {
  running_ = false;
  const Run& run = run_.view();
  if (pays(run.iterations, run.paths.size())) {
    misses(header_) = 0;
    sink_->loop(run);
    return;
  }
  ++misses(header_);
  expander_.begin(run);
  for (std::uint64_t i = 0; i < run.iterations; ++i) {
    const RunPath& path = expander_.next();
    sink_->literal(path.exits, expander_.slots());
  }
}

/// The open path is as long as a path can be. Its second half may be the beginning of an iteration.
void RunEncoder::overflow() {
  if (running_) leave();
  drop_candidates();
  if (slot_at_[end_] - slot_at_[open_] > kLiteralSlots) {
    literals(open_, end_);
    open_ = end_ = 0;
  } else if (open_length() >= kMaxPathEvents) {
    literals(open_, open_ + kMaxPathEvents / 2);
    open_ += kMaxPathEvents / 2;
  }
}

void RunEncoder::drop_candidates() {
  for (std::size_t i = 0; i < candidates_; ++i)
    literals(candidate_at_[i], i + 1 < candidates_ ? candidate_at_[i + 1] : open_);
  candidates_ = 0;
}

/// Hands out the events as literals, cut where they are likely to repeat.
void RunEncoder::literals(std::size_t from, std::size_t to) {
  const std::span<const ExitShape> known = shapes_.exits();
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

/// The run's next event was not the expected one: puts what was taken in of the iteration into the open path.
void RunEncoder::unlock() {
  locked_ = false;
  const LiveRun::Partial partial = run_.unlock();
  std::uint32_t slot = 0;
  for (std::size_t i = 0; i < partial.exits.size(); ++i) {
    exits_[i] = partial.exits[i];
    slot_at_[i] = slot;
    slot += shapes_.exits()[exits_[i]].slots;
  }
  open_ = 0;
  end_ = partial.exits.size();
  slot_at_[end_] = slot;
  std::copy_n(partial.slots, slot, slots_.begin());
}

void RunEncoder::finish() {
  if (locked_) unlock();
  if (running_) leave();
  drop_candidates();
  literals(open_, end_);
  open_ = end_ = 0;
}

}  // namespace loopfold::trace
