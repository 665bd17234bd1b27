// Where an address is, for every access of every instance: part of Builder, inline (builder.h includes it).
#pragma once

#include <algorithm>
#include <cstdint>

namespace loopfold::ddg {

inline std::uint64_t Builder::end_of_stack(const Where& where, const StackState& stack) {
  return where.oldest.known ? where.oldest.stack_pointer + 8 : stack.base + kAboveFirstFrame;
}

/// On the stack: between what the stack pointer allows and the oldest frame.
inline Objects::Place Builder::locate(const Where& where, const ThreadState& thread, const StackState& stack,
                                      std::uint64_t address) {
  const bool on_stack = thread.left != where.stack && lowest_ != 0 && address >= lowest_ - kRedZone;
  if (on_stack && address < end_of_stack(where, stack)) return in_frame(where, address);
  return objects_.find(address);
}

inline bool Builder::in_youngest_frame(const Where& where, const ThreadState& thread, const StackState& stack,
                                       std::uint64_t address) const {
  if (thread.left == where.stack || lowest_ == 0 || address < lowest_ - kRedZone) return false;
  const FrameView& youngest = where.youngest;
  return address < (youngest.known ? youngest.stack_pointer + 8 : end_of_stack(where, stack));
}

inline Objects::Place Builder::in_frame(const Where& where, std::uint64_t address) {
  const bool youngest = !where.youngest.known || address < where.youngest.stack_pointer + 8;
  const FrameView frame = youngest ? where.youngest : where.frame(where.frames, frame_at(where, address));
  ObjectId& object = frames_[frame.function];
  if (object == 0) {
    const structure::PlaceId entry = structure_.flow.functions()[frame.function].entry;
    object = objects_.frame(structure_.code.address(entry));
  }
  const std::uint64_t base = frame.known ? frame.stack_pointer : stack(where.stack).base;
  const auto offset = static_cast<std::int64_t>(address - base);
  if (offset < 0) frame_sizes_[frame.function] = std::max(frame_sizes_[frame.function], std::uint64_t{0} - offset);
  objects_.frame_block(object, static_cast<std::int64_t>(frame.activation));
  return {object, static_cast<std::int64_t>(frame.activation), offset};
}

}  // namespace loopfold::ddg
