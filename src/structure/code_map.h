// The code that ran, cut at every address that control ever came to.
//
// A *place* is an address at which a block of the trace starts. The recorder learns only in the course of a run that
// control comes to the middle of a piece of code, so the first executions of a loop's first iteration may stand in a
// block that goes on beyond the loop's header. Here such a block is cut: its execution is that of several *parts*, one
// after the other, as if every block had been a basic block from the beginning. So the header of a loop is met in every
// iteration, the first included.
//
// Places are numbered in the order of their addresses. The last one, hidden(), stands for code that is not in the
// trace. Code at one address is one place, also where it was replaced (a plug-in unloaded, code generated anew).
//
// Exact: the parts of an exit are the instructions of the exit, in their order.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "trace/exit_kind.h"
#include "trace/reader.h"
#include "trace/types.h"

namespace loopfold::structure {

using PlaceId = std::uint32_t;
inline constexpr PlaceId kNoPlace = 0xffffffff;

/// What ran of a place in one execution.
struct Part {
  PlaceId place = kNoPlace;
  std::uint16_t first_instruction = 0;  // in its block
  std::uint16_t instructions = 0;
  std::uint16_t memory = 0;    // instructions of these that access memory
  std::uint16_t floating = 0;  // and that compute in floating point
};

/// How an exit goes on.
struct ExitCode {
  std::uint32_t first_part = 0;
  std::uint16_t parts = 0;  // none if the block was interrupted before its first instruction
  trace::ExitKind kind = trace::ExitKind::kNext;
  bool has_stack_pointer = false;
  std::uint16_t slots = 0;
  bool plain_stack_pointer = false;  // slot + constant: what it nearly always is
  std::uint16_t stack_pointer_slot = 0;
  std::uint64_t stack_pointer_offset = 0;
  std::uint64_t behind = 0;  // the address behind the last instruction: where a call returns to
  std::uint64_t target = 0;  // where control goes, if that is fixed, else 0
  PlaceId next = kNoPlace;   // of a kNext: the place at `target`
};

/// What is known about the code apart from what ran. All may be empty.
struct FunctionFacts {
  std::function<bool(std::uint64_t)> is_start;              // does a function start at this address?
  std::function<std::uint64_t(std::uint64_t)> function_of;  // the start of the function an address is in; 0: unknown
};

class CodeMap {
 public:
  CodeMap(const trace::Reader& reader, const FunctionFacts& facts);
  /// For tests.
  CodeMap(std::span<const trace::Block> blocks, std::span<const trace::Exit> exits, const FunctionFacts& facts);

  std::size_t places() const { return address_.size(); }  // hidden() included
  PlaceId hidden() const { return static_cast<PlaceId>(address_.size() - 1); }
  std::uint64_t address(PlaceId place) const { return address_[place]; }
  /// kNoPlace if no block starts there.
  PlaceId place_at(std::uint64_t address) const;
  /// A function starts here, as far as symbols and direct calls tell.
  bool is_start(PlaceId place) const { return start_[place]; }
  /// Start of the function that the place is in, or 0.
  std::uint64_t function_of(PlaceId place) const { return function_[place]; }

  const ExitCode& exit(trace::ExitId exit) const { return exits_[exit]; }
  std::span<const Part> parts(const ExitCode& exit) const { return {parts_.data() + exit.first_part, exit.parts}; }
  /// Of an exit that has one; `slots` are those of the event.
  std::uint64_t stack_pointer(trace::ExitId exit, const std::uint64_t* slots) const {
    const ExitCode& code = exits_[exit];
    if (code.plain_stack_pointer) return slots[code.stack_pointer_slot] + code.stack_pointer_offset;
    const trace::Exit& e = trace_exits_[exit];
    return trace::evaluate(blocks_[e.block], e.stack_pointer, {slots, code.slots});
  }

  std::span<const trace::Block> blocks() const { return blocks_; }
  std::span<const trace::Exit> exits() const { return trace_exits_; }
  /// Address of the last instruction of any block part at `place`: its branch, if it ends with one.
  std::uint64_t last_instruction(PlaceId place) const { return last_instruction_[place]; }
  /// Nothing but moves between registers: what compilers put between the parts of a loop.
  bool only_moves(PlaceId place) const { return only_moves_[place]; }
  /// The same, but it may end with a jump that is always taken.
  bool only_moves_and_jumps(PlaceId place) const { return only_moves_and_jumps_[place]; }

 private:
  void find_places();
  void cut_blocks();
  void find_starts(const FunctionFacts& facts);

  std::span<const trace::Block> blocks_;
  std::span<const trace::Exit> trace_exits_;
  std::vector<std::uint64_t> address_;
  std::vector<std::uint64_t> function_;
  std::vector<std::uint64_t> last_instruction_;
  std::vector<bool> only_moves_;
  std::vector<bool> only_moves_and_jumps_;
  std::vector<std::uint8_t> start_;
  std::vector<ExitCode> exits_;
  std::vector<Part> parts_;
};

}  // namespace loopfold::structure
