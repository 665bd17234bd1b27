// Turns the events of a thread into runs, as they come.
//
// Events are appended to an *open path* until it closes: at a taken backward direct jump, which is where an iteration of
// some loop ends. Suppose it jumps to address t. If the open path has a block at t, the path from the last such block on
// is an iteration of the loop with header t, and what stands before it is a literal; so a loop's first iteration, into
// which control fell, is found to be one when it ends. Iterations of the same header that follow one another are kept
// as candidates, and the third makes them a run (LiveRun). From then on a path that starts at the header and jumps back
// to it extends the run; a regular run is locked, and its events are only compared.
//
// A path that closes in another way leaves the loop. Its longest prefix inside the run's body is the run's last
// iteration, the rest stays open and is judged afresh. So a regular loop of n iterations is one run of n iterations:
//
//     entry h h h h exit ...     h: header and body, a self-loop taken three times
//     entry | h h h h | exit     the back jump after the first h closes [entry h]; three more jumps make the run; the
//                                fourth h falls through and is glued to `exit`, which is not in the body: cut there
//
// What has no backward jump for kMaxPathEvents events, or is an iteration of a loop that ran less than three times, is
// written as literals, cut where they are likely to repeat: behind a return, or at kLiteralEvents.
//
// Memory is bounded by the limits in run.h and LiveRun; in the steady state nothing is allocated. Cost: a few ns per
// event; less in a locked run. Exact: the runs, expanded, are the events.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/live_run.h"
#include "trace/run.h"
#include "trace/shapes.h"

namespace loopfold::trace {

/// Where runs go.
class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual void literal(std::span<const ExitId> exits, std::span<const std::uint64_t> slots) = 0;
  /// A run of a loop, without place and time; valid during the call.
  virtual void loop(const Run& run) = 0;
};

class RunEncoder {
 public:
  static constexpr std::size_t kLiteralEvents = 32;
  static constexpr std::size_t kLiteralSlots = 2048;  // unless a single event has more

  explicit RunEncoder(const Shapes& shapes);

  /// Where the runs go from now on. Nothing may be pending.
  void set_sink(RunSink& sink) { sink_ = &sink; }
  /// The next event. `count` is the slot count of the exit.
  void event(ExitId exit, const std::uint64_t* slots, std::size_t count) {
    if (locked_ && run_.step(exit, slots, count)) return;
    append(exit, slots, count);
  }
  /// Is this, with this number of slots, the event that was expected? Then it is known to be sound, and taken in.
  bool expected(ExitId exit, const std::uint64_t* slots, std::size_t count) {
    return locked_ && run_.step(exit, slots, count);
  }
  void append(ExitId exit, const std::uint64_t* slots, std::size_t count);
  /// Ends what is pending and hands it out: the slice or the group ends.
  void finish();
  /// A new group begins: forgets which loops did not pay.
  void reset();

 private:
  static constexpr std::size_t kCapacity = 1024;   // events in the buffer
  static constexpr std::size_t kCandidates = 3;    // iterations that make a run
  static constexpr std::size_t kRemembered = 256;  // loops that did not pay
  static constexpr std::uint8_t kPatience = 2;     // bad runs of a loop before it is left alone for a while

  std::size_t open_length() const { return end_ - open_; }
  std::span<const ExitId> exits(std::size_t from, std::size_t to) const { return {exits_.data() + from, to - from}; }
  std::uint64_t address(std::size_t event) const { return shapes_.exits()[exits_[event]].address; }
  void close(std::uint64_t target);
  void close_open(std::uint64_t target);
  bool continues_run(std::uint64_t target);
  void establish();
  void leave();
  void end_run();
  void overflow();
  void drop_candidates();
  void literals(std::size_t from, std::size_t to);
  void unlock();
  void make_room(std::size_t slots);
  std::uint8_t& misses(std::uint64_t header) { return misses_[(header ^ header >> 8) % kRemembered]; }

  const Shapes& shapes_;
  RunSink* sink_ = nullptr;

  // Events that are not in a run yet: candidates, then the open path.
  std::array<ExitId, kCapacity> exits_{};
  std::array<std::uint32_t, kCapacity + 1> slot_at_{};  // where each event's slots begin
  std::vector<std::uint64_t> slots_;
  std::array<std::size_t, kCandidates> candidate_at_{};
  std::size_t candidates_ = 0;
  std::size_t open_ = 0;
  std::size_t end_ = 0;

  std::uint64_t header_ = 0;  // of the candidates or the run
  bool running_ = false;
  bool locked_ = false;
  LiveRun run_;
  RunExpander expander_;
  std::array<std::uint8_t, kRemembered> misses_{};
};

}  // namespace loopfold::trace
