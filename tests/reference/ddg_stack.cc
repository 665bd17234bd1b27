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

StackPointerSource stack_pointer_source(const trace::InstructionFacts& facts) {
  const auto is_rsp = [](const trace::RegisterUse& use) {
    return use.file == trace::RegisterFile::kGeneral && use.index == kStackPointer;
  };
  const auto is_written_by_itself = [&](const trace::RegisterUse& use) { return is_rsp(use) && !use.step; };
  if (std::none_of(facts.writes.begin(), facts.writes.end(), is_written_by_itself)) return {};
  const bool copies = facts.transfer == trace::Transfer::kCopy;
  const bool computes = facts.transfer == trace::Transfer::kCompute;
  const bool reads = std::any_of(facts.reads.begin(), facts.reads.end(), is_rsp);
  return {copies && (facts.kinds & trace::kLoad) != 0, !computes || !reads};
}

std::uint64_t StackMemory::end_of(const Stack& stack, const FrameEntries& frames) {
  return frames.front() != kUnknownEntry ? frames.front() + 8 : stack.first + kAboveFirst;
}

void StackMemory::move(StackPointer& pointer, std::uint64_t number, const FrameEntries& frames, std::uint64_t value,
                       StackPointerSource source) {
  Stack& stack = stacks_[number];
  if (source.brought && !stack.values.empty() && value < stack.values.back()) stack.unsure = true;
  stack.values.push_back(value);
  const StackPointer before = pointer;
  pointer.known_ = true;
  pointer.value_ = value;
  const bool far = before.known_ && distance(value, before.value_) > kFar;
  const bool up = before.known_ && value >= before.value_ && value < end_of(stack, frames);
  if ((far || source.loaded) && !up) {
    pointer.left_ = true;
    pointer.left_stack_ = number;
    return;
  }
  if (!stack.seen) stack.first = value;
  stack.seen = true;
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
  if (frames.back() == kUnknownEntry) return {};
  AddressRange covered{0, frames.back() + 8};
  const bool known = !stack.unsure && stack.since < stack.values.size();
  if (known)
    covered.begin =
        *std::min_element(stack.values.begin() + static_cast<std::ptrdiff_t>(stack.since), stack.values.end()) -
        kRedZone;
  stack.unsure = false;
  stack.since = stack.values.size();
  stack.values.push_back(covered.end);
  return known ? covered : AddressRange{};
}

}  // namespace loopfold::reference
