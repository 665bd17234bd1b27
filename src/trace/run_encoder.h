// Turns the events of a thread into runs, as they come.
//
// Events are appended to an *open path*. When control jumps back, directly, to a block that the open path has been to,
// a cycle is closed: an iteration of some loop. Its header is that part of the cycle which was executed first of all
// (CodeAges), calls apart; in a compiled loop that is where the entry leads, wherever the backward jump is. What stands
// before the header in the open path is a literal; so a loop's first iteration, into which control fell, is found to be
// one when it ends. From then on the loop is *followed*: whenever control comes to its header, around the loop and not
// from outside, an iteration is complete. Iterations wait as *candidates*; the third makes them a run (LiveRun), which
// the later ones extend. A regular run is locked, and its events are only compared; any other is followed as long as
// its events go along paths that it has had.
//
// The loop is left when control closes another cycle, comes to the header from outside, or has not been there for
// kMaxPathEvents events. The longest prefix of the open path inside the run's body is then the run's last iteration,
// and the rest is judged afresh. So a regular loop of n iterations is one run of n iterations:
//
//     entry h h h h exit T ...    h: header and body, a self-loop taken three times; T: an outer loop's header
//     entry|h h h h|exit T ...    the first back jump finds [h] in [entry h]; the third makes the run; the fourth h
//                                 leaves and is glued to `exit T entry` when control comes to h again: cut behind it
//
// A backward jump to where the open path has not been is only a jump: to an outer loop's header, or from a rare case
// that the compiler put behind the function back into the loop. Coming to the header by falling into it is an iteration
// if control has jumped back to younger code since (a branch that was put before the header), and an entry if that code
// is older than the header (an outer loop) or there was no such jump (another call).
//
// What is in no cycle, or in one that ran less than three times, is written as literals, cut where they are likely to
// repeat: behind a return, or at kLiteralEvents.
//
// Memory is bounded by the limits in run.h and LiveRun; in the steady state nothing is allocated. Cost: a few ns per
// event; less in a locked run. Exact: the runs, expanded, are the events.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/event_words.h"
#include "trace/live_run.h"
#include "trace/run.h"
#include "trace/shapes.h"

namespace loopfold::trace {

/// Where runs go.
class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual void literal(std::span<const ExitId> exits, std::span<const std::uint64_t> slots) = 0;
  /// A run of a loop, without place and time; valid during the call. Its irregular columns have no values: these are in
  /// the rows, the slots of all iterations one after the other. Without irregular columns there may be no rows.
  virtual void loop(const Run& run, std::span<const std::uint64_t> rows) = 0;
};

/// The values of the run's columns, each in the iterations in which it is present; for those who want the columns of a
/// run that came with rows. Nothing if there are no rows.
std::vector<std::vector<std::uint64_t>> column_values(const Run& run, std::span<const std::uint64_t> rows);

class RunEncoder {
 public:
  static constexpr std::size_t kLiteralEvents = 32;
  static constexpr std::size_t kLiteralSlots = 2048;  // unless a single event has more

  explicit RunEncoder(const Shapes& shapes);

  /// Where the runs go from now on. Nothing may be pending.
  void set_sink(RunSink& sink) { sink_ = &sink; }
  /// Is this, with this number of slots, the event that the run leads to expect? Then it is taken in.
  bool expected(ExitId exit, const std::uint64_t* slots, std::size_t count) {
    if (following_) return run_.follow(exit, slots, count);
    return locked_ && run_.step(exit, slots, count);
  }
  /// May what is pending grow by events that were expected?
  bool grows() const { return following_; }
  /// Any other event. `count` is the slot count of the exit. True if runs may have been handed out.
  bool append(ExitId exit, const std::uint64_t* slots, std::size_t count) {
    const ExitShape& shape = shapes_.exits()[exit];
    handed_out_ = false;
    if (locked_ || following_ || shape.address == watch_header_ || shape.address == watch_back_) {
      append_slowly(exit, slots, count);
    } else {
      append_plainly(exit, shape, slots, count);
    }
    return handed_out_;
  }
  /// Takes in events that come as words, expected or not: until the words end, or `most` were taken in, or runs may
  /// have been handed out, which is when it returns true. Stops before an event that is not as its exit was described.
  bool take(EventWords& in, std::uint64_t most);
  /// Ends what is pending and hands it out: the slice or the group ends.
  void finish();
  /// A new group begins: forgets which loops did not pay.
  void reset();
  /// About how much is pending.
  std::size_t pending_bytes() const;

 private:
  static constexpr std::size_t kCapacity = 1024;                     // events in the buffer
  static constexpr std::size_t kMostSlots = kLiteralSlots + 0xffff;  // of an open path: the last event may have any
  static constexpr std::size_t kIterations = 3;                      // make a run
  static constexpr std::size_t kCandidates = 8;                      // iterations that may wait for that
  static constexpr std::size_t kRemembered = 256;                    // loops that did not pay
  static constexpr std::uint8_t kPatience = 2;  // bad runs of a loop before it is left alone for a while

  std::span<const ExitId> exits(std::size_t from, std::size_t to) const { return {exits_.data() + from, to - from}; }
  void append_plain_words(EventWords& in, std::uint64_t most);
  void append_slowly(ExitId exit, const std::uint64_t* slots, std::size_t count);
  void append_plainly(ExitId exit, const ExitShape& shape, const std::uint64_t* slots, std::size_t count) {
    const std::uint32_t at = slot_at_[end_];
    std::uint64_t* const to = slots_.data() + at;
    for (std::size_t i = 0; i < count; ++i) to[i] = slots[i];
    exits_[end_] = exit;
    addresses_[end_] = shape.address;
    slot_at_[++end_] = at + static_cast<std::uint32_t>(count);
    watch_header_ = shape.direct ? header_ : kNoTarget;
    watch_back_ = shape.back_target;
    if (end_ - open_ >= kMaxPathEvents || slot_at_[end_] - slot_at_[open_] > kLiteralSlots) [[unlikely]]
      overflow();
  }
  /// Is there a block at this address in the open path, which ends at `end`?
  bool has_been_at(std::uint64_t address, std::size_t end) const {
    while (end > open_ && addresses_[end - 1] != address) --end;
    return end > open_;
  }
  void arrive();
  bool is_iteration(std::size_t from, std::size_t to) const;
  void jumped_back(std::uint64_t target);
  std::size_t find_header(std::size_t first) const;
  void establish();
  void leave(std::size_t limit);
  void end_run();
  void overflow();
  void drop_candidates();
  void literals(std::size_t from, std::size_t to);
  void follow();
  void unlock();
  /// Makes sure that the open path fits into the buffer until it is next looked at.
  void make_room() {
    if (open_ == end_ && candidates_ == 0) open_ = end_ = 0;
    if (open_ + kMaxPathEvents + 1 >= kCapacity || slot_at_[open_] + kMostSlots > slots_.size()) [[unlikely]]
      move_to_front();
  }
  void move_to_front();
  std::uint8_t& misses(std::uint64_t header) { return misses_[(header ^ header >> 8) % kRemembered]; }

  const Shapes& shapes_;
  RunSink* sink_ = nullptr;

  // Events that are not in a run yet: candidates, then the open path.
  std::array<ExitId, kCapacity> exits_{};
  std::array<std::uint64_t, kCapacity> addresses_{};    // of their blocks
  std::array<std::uint32_t, kCapacity + 1> slot_at_{};  // where each event's slots begin
  std::vector<std::uint64_t> slots_;
  std::array<std::size_t, kCandidates> candidate_at_{};
  std::size_t candidates_ = 0;
  std::size_t open_ = 0;
  std::size_t end_ = 0;

  /// Of the loop that is followed: the open path starts at its header, and so do the candidates. Or kNoTarget.
  std::uint64_t header_ = kNoTarget;
  /// If the next event is at one of these addresses, control comes to the header, or has jumped back.
  std::uint64_t watch_header_ = kNoTarget;
  std::uint64_t watch_back_ = kNoTarget;
  bool running_ = false;  // there is a run; else there may be candidates
  bool locked_ = false;
  bool following_ = false;   // the run; never if it is locked
  bool handed_out_ = false;  // since the last event
  LiveRun run_;
  std::array<std::uint8_t, kRemembered> misses_{};
};

}  // namespace loopfold::trace
