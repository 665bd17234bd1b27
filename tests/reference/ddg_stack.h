// Where the stack of a thread is: its pointer, its youngest frame, and what a frame covered that is left.
//
// The stack pointer is the last 8-byte result of rsp; it is not known at the start of a thread or handler, and when
// recording begins again. One that moves far, or is loaded from memory as it is, and not up within the stack, has gone
// over to another stack, which control follows some instructions later; until then nothing is known to be in a frame.
// A frame covers what lies from 128 bytes below the lowest stack pointer since it was entered up to its return address.
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

/// What `result` puts into rsp is what the instruction loaded, as it is.
bool loads_stack_pointer(const trace::InstructionFacts& facts);

class StackMemory {
 public:
  /// An instruction on `stack` puts `value` into rsp.
  void move(StackPointer& pointer, std::uint64_t stack, const FrameEntries& frames, std::uint64_t value, bool loaded);

  /// The part of the stack that the youngest frame may use during an instruction before which the stack pointer was
  /// `before`, and behind which it is `after`.
  AddressRange youngest_frame(const StackPointer& before, const StackPointer& after, std::uint64_t stack,
                              const FrameEntries& frames) const;

  /// The youngest frame is about to be left: what it covered.
  AddressRange leave(std::uint64_t stack, const FrameEntries& frames);

 private:
  struct Stack {
    bool seen = false;
    std::uint64_t first = 0;            // stack pointer that was seen
    std::vector<std::uint64_t> lowest;  // by frame
  };
  static void fit(Stack& stack, const FrameEntries& frames);
  static std::uint64_t end_of(const Stack& stack, const FrameEntries& frames);

  std::map<std::uint64_t, Stack> stacks_;  // by number
};

}  // namespace loopfold::reference
