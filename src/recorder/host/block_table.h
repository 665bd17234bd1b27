// Blocks as the target describes them, made canonical: one trace block per address, bytes and description, however
// often Valgrind translates it, and only if one of its executions is recorded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/wire.h"
#include "trace/writer.h"

namespace loopfold::recorder {

/// What ingesting one event needs to know about its exit, in one cache line.
struct WireExit {
  std::uint32_t trace_exit = kUnassigned;  // id in the trace, once recorded
  std::uint32_t block = 0;                 // index in the table
  std::uint16_t slots = 0;
  std::uint16_t instructions = 0;
  std::uint16_t sp_slot = wire::kNoSlot;  // rsp after the exit is this slot + sp_offset
  trace::ExitKind kind = trace::ExitKind::kNext;
  bool main_program = true;
  bool known = false;
  std::uint64_t sp_offset = 0;
  std::uint64_t block_end = 0;  // the address behind the block; that is where a call returns to

  /// Is there nothing to do for an execution but to write it down and to follow the stack?
  bool plain() const { return trace_exit < trace::WordExit::kMostExits && kind != trace::ExitKind::kTrap; }

  static constexpr std::uint32_t kUnassigned = 0xffffffff;
};

class BlockTable {
 public:
  explicit BlockTable(trace::Writer& writer) : writer_(writer) {}

  /// Takes in a kDescribe record. False if it makes no sense (a torn tail).
  bool describe(std::span<const std::uint64_t> words, bool main_program);

  /// The exit with this id in the wire; `known` is false if it was never described.
  WireExit& exit(std::uint32_t id) {
    static WireExit unknown;
    return id < exits_.size() ? exits_[id] : unknown;
  }

  /// All exits, by id; those that were never described are not `known`.
  std::span<const WireExit> exits() const { return exits_; }

  /// What the writer needs to know about plain exits, by id. Those that move the stack pointer are noted.
  std::span<const trace::WordExit> plain_exits() const { return plain_exits_; }

  /// Makes sure that the exit's block is in the trace, and so gives it its trace id.
  void assign(std::uint32_t id);

  /// The block ran only up to `address`. Nothing if no instruction of it was completed.
  struct Interrupted {
    trace::ExitId trace_exit;
    std::uint16_t slots;
    std::uint16_t instructions;
  };
  std::optional<Interrupted> interrupt(std::uint32_t base_exit, std::uint64_t address);

  /// In a verified recording: how many derived values of this execution differ from the slots stored for them.
  std::uint64_t differing(std::uint32_t id, std::span<const std::uint64_t> slots) const;

  std::uint64_t end_of(std::uint32_t id) const;  // address behind the exit's block
  std::uint64_t address_of(std::uint32_t id) const;
  /// The bytes that could not be decoded behind the block, if any.
  const std::vector<std::uint8_t>& trap_bytes(std::uint32_t id) const;

 private:
  struct Entry {
    trace::Block block;
    std::vector<trace::Exit> exits;  // ids are the trace's once `written`
    std::vector<std::uint8_t> trap_bytes;
    std::vector<std::pair<std::uint32_t, trace::Value>> checks;    // slot, and how it could have been derived
    std::unordered_map<std::uint16_t, trace::ExitId> interrupted;  // by instructions completed
    bool written = false;
  };
  Entry& write(std::uint32_t block);
  void list_plain(std::uint32_t id);

  trace::Writer& writer_;
  std::vector<WireExit> exits_;               // by wire id
  std::vector<trace::WordExit> plain_exits_;  // by wire id
  std::vector<std::uint32_t> first_exit_of_;  // unused ids stay unknown
  std::vector<Entry> blocks_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> canonical_;  // key_of() -> index in blocks_
  trace::BlockId next_block_ = 0;
  trace::ExitId next_exit_ = 0;
};

}  // namespace loopfold::recorder
