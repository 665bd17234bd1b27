// A shadow call stack per thread, kept right by stack pointers alone.
//
// A call pushes (stack pointer after it, return address); whatever leaves frames (return, longjmp, an exception's
// landing, a tail call) shows in the stack pointer of the next call, return or indirect jump, and all frames below that
// are popped. No unwinding tables are needed, so it works in stripped, optimised and generated code.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/types.h"

namespace loopfold::recorder {

class CallStackTracker {
 public:
  void call(std::uint64_t sp, std::uint64_t return_address) {
    while (!frames_.empty() && frames_.back().sp <= sp) frames_.pop_back();
    if (frames_.size() < kMostFrames) frames_.push_back({sp, return_address});
  }

  /// After a return or an indirect jump with this stack pointer.
  void left(std::uint64_t sp) {
    while (!frames_.empty() && frames_.back().sp < sp) frames_.pop_back();
  }

  /// Return addresses, innermost first, at most kMaxStackDepth.
  trace::CallStack innermost() const {
    trace::CallStack stack;
    for (auto frame = frames_.rbegin(); frame != frames_.rend() && stack.size() < trace::kMaxStackDepth; ++frame) {
      stack.push_back(frame->return_address);
    }
    return stack;
  }

 private:
  static constexpr std::size_t kMostFrames = std::size_t{1} << 22;  // a runaway recursion ends long before
  struct Frame {
    std::uint64_t sp;
    std::uint64_t return_address;
  };
  std::vector<Frame> frames_;
};

/// Gives equal call stacks one id.
class CallStackTable {
 public:
  /// The id, and whether it is new.
  std::pair<trace::StackId, bool> intern(const trace::CallStack& stack) {
    const auto [entry, added] = ids_.try_emplace(stack, static_cast<trace::StackId>(ids_.size()));
    return {entry->second, added};
  }

 private:
  struct Hash {
    std::size_t operator()(const trace::CallStack& stack) const {
      std::uint64_t hash = stack.size();
      for (const std::uint64_t address : stack) hash = (hash ^ address) * 0x9e3779b97f4a7c15ull + (hash >> 29);
      return hash;
    }
  };
  std::unordered_map<trace::CallStack, trace::StackId, Hash> ids_;
};

}  // namespace loopfold::recorder
