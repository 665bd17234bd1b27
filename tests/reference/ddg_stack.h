// Where the stack of a thread is: its pointer, its youngest frame, and what a frame covered that is left.
//
// Two questions, two rules. For what is in the youngest frame, the stack pointer is the last 8-byte result of rsp; it
// is not known at the start of a thread or handler, and when recording begins again. One that moves far, or is loaded
// from memory as it is, and not up within the stack, has gone over to another stack, which control follows some
// instructions later; until then nothing is known to be in a frame.
//
// For what a frame covered, graph.h has the rule: down to 128 bytes below the lowest value of rsp since a frame of the
// stack was left last, unless one of them was brought from elsewhere and is lower than the one before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/decode.h"
#include "trace/types.h"

namespace loopfold::reference {

/// Where the frames of a stack were entered: the addresses of their return addresses, oldest first.
using FrameEntries = std::vector<std::uint64_t>;
inline constexpr std::uint64_t kUnknownEntry = ~std::uint64_t{0};

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

class StackPointer {
 public:
  void forget() { known_ = false; }

 private:
  friend class StackMemory;
  bool known_ = false;
  std::uint64_t value_ = 0;
  bool left_ = false;  // for good, unless control comes to another stack than left_stack_
  std::uint64_t left_stack_ = 0;
};

/// How an instruction comes to what it puts into rsp.
struct StackPointerSource {
  bool loaded = false;   // from memory, as it is
  bool brought = false;  // not computed from rsp
};
StackPointerSource stack_pointer_source(const trace::InstructionFacts& facts);

class StackMemory {
 public:
  /// An instruction on `stack` puts `value` into rsp.
  void move(StackPointer& pointer, std::uint64_t stack, const FrameEntries& frames, std::uint64_t value,
            StackPointerSource source);

  /// The part of the stack that the youngest frame may use during an instruction before which the stack pointer was
  /// `before`, and behind which it is `after`.
  AddressRange youngest_frame(const StackPointer& before, const StackPointer& after, std::uint64_t stack,
                              const FrameEntries& frames) const;

  /// The youngest frame is about to be left: what it covered, as far as that is known.
  AddressRange leave(std::uint64_t stack, const FrameEntries& frames);

 private:
  struct Stack {
    std::vector<std::uint64_t> values;  // that rsp was given, oldest first
    std::uint64_t first = 0;            // of them, not far from the one before
    bool seen = false;                  // there is a first one
    std::size_t since = 0;              // in `values`: since a frame was left
    bool unsure = false;                // since then
  };
  static std::uint64_t end_of(const Stack& stack, const FrameEntries& frames);

  std::map<std::uint64_t, Stack> stacks_;  // by number
};

}  // namespace loopfold::reference
