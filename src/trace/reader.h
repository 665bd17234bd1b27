// Reads a trace: descriptions at once, events as a stream in bounded memory, any number of passes.
//
// open() scans the chunk headers and loads the static descriptions (modules, blocks, exits, stacks, run and end
// information); their size depends on the code, not on the length of the run. Events are read through cursors, which
// hold one group at a time. Every chunk is checked against its checksum before it is decoded, and every id in it
// against the descriptions, so that damaged input ends in an Error or a flag, never in undefined behaviour.
//
// A trace without an end record (the recorder was killed) is read up to its last whole group and is *partial*. A trace
// with a damaged chunk is read up to that chunk and is partial too; damage() says where and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "trace/run.h"
#include "trace/types.h"

namespace loopfold::trace {

struct Event {
  ThreadId thread = 0;
  std::uint64_t slice = 0;
  std::uint64_t position = 0;  // ordinal among the thread's events
  ExitId exit = 0;
  std::span<const std::uint64_t> slots;  // valid until the cursor moves on
};

struct CursorOptions {
  std::optional<ThreadId> thread;  // only this thread's events and side events
  std::size_t first_group = 0;     // start here (see Reader::groups)
  /// RunCursor only: read where control went and no values but those that stack pointers are computed from. The other
  /// columns are then RunColumn::Kind::kSkipped, and the other slots of a literal mean nothing.
  bool control_only = false;
};

class Reader;

/// Walks runs and side events in the global order. Must not outlive its Reader. A side event that stands inside a run
/// (behind its first event and before its last) comes with the run, in Run::sides; all others come by themselves. Order
/// and checksums of a group are checked when the cursor comes to it, runs when they are delivered. The end and an Error
/// are final.
class RunCursor {
 public:
  enum class Item { kRun, kSide, kEnd };
  /// Moves on. After kRun, run() is valid; after kSide, side() is; both until the next call. An Error means that a
  /// chunk which looked sound from its header is not: what came before it was right.
  Result<Item> next();
  const Run& run() const;
  const SideEvent& side() const;
  /// The group that the item is of.
  std::size_t group() const;

  RunCursor(RunCursor&&) noexcept;
  ~RunCursor();

 private:
  friend class Reader;
  struct State;
  explicit RunCursor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The same, event by event: what the runs of a RunCursor expand to.
class Cursor {
 public:
  enum class Item { kEvent, kSide, kEnd };
  /// Moves on. After kEvent, event() is valid; after kSide, side() is. An Error is as in RunCursor.
  Result<Item> next();
  const Event& event() const;
  const SideEvent& side() const;

  Cursor(Cursor&&) noexcept;
  ~Cursor();

 private:
  friend class Reader;
  struct State;
  explicit Cursor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What one group covers: enough to seek by event position or slice.
struct GroupSummary {
  std::uint64_t first_slice = 0;
  std::uint64_t events = 0;  // of all threads
  std::uint64_t side_events = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t stored_bytes = 0;
};

struct OpenOptions {
  /// Read every chunk and compare its checksum, so that damage anywhere makes the trace partial instead of ending a
  /// cursor in an Error. Costs one pass over the file; without it only headers and descriptions are read.
  bool check_events = true;
};

class Reader {
 public:
  /// `path` is the trace.lft file.
  static Result<std::unique_ptr<Reader>> open(const std::string& path, OpenOptions options = {});
  ~Reader();

  const RunInfo& info() const;
  const std::optional<EndInfo>& end() const;
  bool partial() const;               // no end record, or damaged
  const std::string& damage() const;  // empty, or one line: where the file is damaged or cut off
  const std::vector<Module>& modules() const;
  const std::vector<Block>& blocks() const;
  const std::vector<Exit>& exits() const;
  const std::vector<CallStack>& stacks() const;
  const std::vector<GroupSummary>& groups() const;  // in order; without those of run information and end record
  std::uint64_t file_bytes() const;

  RunCursor runs(CursorOptions options = {}) const;
  Cursor cursor(CursorOptions options = {}) const;

  struct State;

 private:
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What a block's expression is worth in an event with these slots.
std::uint64_t evaluate(const Block& block, const Expression& expression, std::span<const std::uint64_t> slots);

/// The value that `value`, of `block` or one of its exits, has in an event with these slots. 0 for no value.
inline std::uint64_t evaluate(const Block& block, const Value& value, std::span<const std::uint64_t> slots) {
  if (value.kind == Value::Kind::kSlot) return slots[value.data];
  if (value.kind == Value::Kind::kExpression) return evaluate(block, block.expressions[value.data], slots);
  return value.data;
}

}  // namespace loopfold::trace
