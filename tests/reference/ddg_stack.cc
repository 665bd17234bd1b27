#include "ddg_stack.h"

#include <algorithm>

namespace loopfold::reference {

namespace {

constexpr std::uint64_t kRedZone = 128;
constexpr std::uint64_t kFar = std::uint64_t{64} << 20;
constexpr std::uint64_t kAboveFirst = 64 * 1024;  // of an oldest frame whose entry is not known
constexpr unsigned kStackPointer = 4;

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

bool loads_stack_pointer(const trace::InstructionFacts& facts) {
  const auto is_loaded = [](const trace::RegisterUse& use) {
    return use.file == trace::RegisterFile::kGeneral && use.index == kStackPointer && !use.step;
  };
  return (facts.kinds & trace::kLoad) != 0 && facts.transfer == trace::Transfer::kCopy &&
         std::any_of(facts.writes.begin(), facts.writes.end(), is_loaded);
}

/// Frames that were entered since the stack was looked at last have reached their own entries only.
void StackMemory::fit(Stack& stack, const FrameEntries& frames) {
  while (stack.lowest.size() < frames.size()) stack.lowest.push_back(frames[stack.lowest.size()]);
}

std::uint64_t StackMemory::end_of(const Stack& stack, const FrameEntries& frames) {
  return frames.front() != kUnknownEntry ? frames.front() + 8 : stack.first + kAboveFirst;
}

void StackMemory::move(StackPointer& pointer, std::uint64_t number, const FrameEntries& frames, std::uint64_t value,
                       bool loaded) {
  Stack& stack = stacks_[number];
  fit(stack, frames);
  const StackPointer before = pointer;
  pointer.known_ = true;
  pointer.value_ = value;
  const bool far = before.known_ && distance(value, before.value_) > kFar;
  const bool up = before.known_ && value >= before.value_ && value < end_of(stack, frames);
  if ((far || loaded) && !up) {
    pointer.left_ = true;
    pointer.left_stack_ = number;
    return;
  }
  if (!stack.seen) stack.first = value;
  stack.seen = true;
  if (pointer.left_ && pointer.left_stack_ == number) return;
  for (std::uint64_t& lowest : stack.lowest) lowest = std::min(lowest, value);
}

AddressRange StackMemory::youngest_frame(const StackPointer& before, const StackPointer& after, std::uint64_t number,
                                         const FrameEntries& frames) const {
  const auto found = stacks_.find(number);
  if (found == stacks_.end() || !after.known_ || (after.left_ && after.left_stack_ == number)) return {};
  const std::uint64_t low = before.known_ ? std::min(before.value_, after.value_) : after.value_;
  const std::uint64_t end = frames.back() != kUnknownEntry ? frames.back() + 8 : end_of(found->second, frames);
  return {low - kRedZone, end};
}

AddressRange StackMemory::leave(std::uint64_t number, const FrameEntries& frames) {
  Stack& stack = stacks_[number];
  fit(stack, frames);
  const std::uint64_t lowest = stack.lowest.back();
  stack.lowest.pop_back();
  if (frames.back() == kUnknownEntry) return {};
  return {lowest - kRedZone, frames.back() + 8};
}

}  // namespace loopfold::reference
