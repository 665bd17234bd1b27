// From the wire to the trace: reads the target's record stream and drives the trace writer.
//
// What the target sends is everything that ran, in order. Here it is decided what of that is recorded (from main, only
// a function, ...), what is hidden (allocator, resolver, libraries with --no-libs) and only counted; blocks become
// canonical by address, bytes and description, whatever Valgrind retranslates; and a shadow call stack, matched by
// stack pointers, gives allocations their call stacks without unwinding anything.
//
// Exact: every executed block is an event, is counted in a Hidden or Allocation side event, or lies outside the scope.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "recorder/host/options.h"
#include "trace/writer.h"

namespace loopfold::recorder {

/// An instruction that Valgrind could not decode, if one was reached.
struct Undecodable {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
};

class Ingest {
 public:
  /// `program` is the resolved path of the program's binary (to tell it from libraries).
  Ingest(trace::Writer& writer, const RecordOptions& options, const std::string& program);
  ~Ingest();

  struct Consumed {
    std::size_t words = 0;
    bool segment_ended = false;
  };
  /// Parses whole records. After done() it only skips.
  Consumed consume(std::span<const std::uint64_t> words);

  /// Parses what a dead target left unpublished: records up to the first blank header, less the last, which may not
  /// have been finished.
  void consume_tail(std::span<const std::uint64_t> words);

  /// The stream makes no sense: nothing more is read.
  void give_up();

  /// A limit was reached or the writer failed: nothing more will be recorded.
  bool done() const;
  trace::EndInfo::Reason reason() const;
  /// The counts so far.
  trace::EndInfo end_info() const;
  bool scope_entered() const;
  bool replaced_by_exec() const;
  /// Processes forked off while recording, whether they are followed or not.
  std::uint64_t children() const;
  /// With --verify-slots: derived values that differ from what was stored. Anything but 0 is a bug of the recorder.
  std::uint64_t differing() const;
  /// What the program passed to exit, if it came to that.
  std::optional<int> exit_status() const;
  const std::optional<Undecodable>& undecodable() const;
  const std::vector<trace::Module>& modules() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace loopfold::recorder
