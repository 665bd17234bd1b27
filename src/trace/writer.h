// Appends a trace to a file, group by group.
//
// The file is a header and then *groups*. A group covers a stretch of global time (a range of slices) for all threads:
// the descriptions that became known in it, one chunk of side events, one or two chunks of runs for each thread that
// ran, the last chunk marked "ends the group". A reader needs one group in memory at a time, and after kill -9 all
// groups but the unfinished last one are there: at most one group is lost.
//
// Cost: event() turns events into runs and encodes these, a few ns for each event, less in regular loops; compression
// and the write happen in flush(), once per kGroupBytes or kGroupEvents. Memory: a few times kGroupBytes. After a
// failed write every call is a no-op and error() says why; what was written before stays readable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "support/result.h"
#include "trace/event_words.h"
#include "trace/types.h"

namespace loopfold::trace {

class Writer {
 public:
  /// Creates `path` (truncating it) and writes the file header and the RunInfo chunk at once, so that even a recording
  /// that dies immediately leaves a readable trace.
  static Result<std::unique_ptr<Writer>> create(const std::string& path, const RunInfo& info);
  ~Writer();

  // Static descriptions. Ids are dense and assigned by the caller in order from 0; an exit's block is added before it,
  // and both before the first event that uses them.
  void add_module(const Module& module);
  void add_block(const Block& block);
  void add_exit(const Exit& exit);
  void add_stack(const CallStack& stack);

  /// One block execution. `slots.size()` is the exit's slot count. Slices never decrease over calls.
  void event(ThreadId thread, std::uint64_t slice, ExitId exit, std::span<const std::uint64_t> slots);

  /// Several of them as words, up to where the walk along these stops; faster than one by one.
  void events(ThreadId thread, std::uint64_t slice, EventWords& in);

  /// A side event; its `position` is filled in here with the number of events the thread has so far. Its slice does not
  /// decrease either; events of one slice are all of one thread, but a side event of another may stand among them.
  void side(SideEvent side_event);

  /// Ends the current group and writes it. Called by event() itself when the group is large enough; call it too when
  /// the recorder idles.
  void flush();

  /// Flushes, writes the end record and closes the file. `events`, `side_events` and `threads` are filled in here with
  /// what was written. Without finish(), the destructor flushes and the trace is partial.
  void finish(EndInfo end);

  /// How much is buffered before event() flushes; at most kMaxGroupBytes. For tests, and for recordings that shall lose
  /// less when they die.
  void set_group_bytes(std::size_t bytes);

  std::uint64_t events_of(ThreadId thread) const;
  std::uint64_t bytes_written() const;  // the file's size: whole groups only
  /// Why nothing is written any more: a write failed, or a call broke the rules above (ErrorKind::kInternal).
  const std::optional<Error>& error() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace loopfold::trace
