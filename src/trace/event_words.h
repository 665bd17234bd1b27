// Block executions as a recorder sends them: a word that names the exit, its slots, the next exit, and so on.
//
// Events that come like this need not be taken apart one by one before it is clear what is to be done with them. A run
// that is locked compares whole iterations, word by word, with the iteration before (WordPattern), and everybody else
// finds an event's exit by one look into a table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "trace/types.h"

namespace loopfold::trace {

/// What a word that names an exit stands for.
struct WordExit {
  static constexpr std::uint32_t kMostExits = 0x7fffffff;
  static constexpr std::uint16_t kOther = 0xffff;

  std::uint32_t exit : 31 = 0;
  std::uint32_t noted : 1 = 0;   // its sender wants to hear of its events
  std::uint16_t slots = kOther;  // kOther: not to be taken from the words
  std::uint16_t instructions = 0;
};

/// Walks along the words, and counts. It stops at the first word that names no exit in the table or one that is not to
/// be taken, at an event that is not all there, and when there is no more room to note events.
class EventWords {
 public:
  static constexpr std::size_t kMostNoted = 64;

  /// `exits` by the words that name them. Of very many words, only the first are looked at.
  EventWords(std::span<const std::uint64_t> words, std::span<const WordExit> exits)
      : first_(words.data()),
        at_(words.data()),
        end_(words.data() + std::min<std::size_t>(words.size(), WordExit::kOther)),
        exits_(exits) {}

  /// The exit of the next event, or null where the walk stops.
  const WordExit* front() const { return find(at_, end_, exits_); }
  const std::uint64_t* slots() const { return at_ + 1; }
  /// Passes over the next event, which has this exit.
  void pass(const WordExit& exit) {
    if (exit.noted != 0) [[unlikely]]
      note(at_);
    at_ += std::size_t{1} + exit.slots;
    ++events_;
    instructions_ += exit.instructions;
  }

  // For loops that keep their place in variables of their own, which go() puts back: it passes over so many events, up
  // to `at`. They note() events themselves; the end may be another one after that.
  const std::uint64_t* at() const { return at_; }
  const std::uint64_t* end() const { return end_; }
  std::span<const WordExit> exits() const { return exits_; }
  static const WordExit* find(const std::uint64_t* at, const std::uint64_t* end, std::span<const WordExit> exits) {
    if (at == end || *at >= exits.size()) [[unlikely]]
      return nullptr;
    const WordExit& exit = exits[*at];
    return static_cast<std::size_t>(end - at) > exit.slots ? &exit : nullptr;
  }
  /// Copies the slots of the event at `at`, and what stands behind them: up to kSpare words more.
  static constexpr std::size_t kSpare = 4;
  static void copy_slots(const std::uint64_t* at, const std::uint64_t* end, std::size_t count, std::uint64_t* to) {
    std::size_t i = 0;
    if (static_cast<std::size_t>(end - at) > kSpare) [[likely]] {
      std::memcpy(to, at + 1, kSpare * sizeof(std::uint64_t));
      i = kSpare;
    }
    for (; i < count; ++i) to[i] = at[1 + i];
  }
  void note(const std::uint64_t* at) {
    noted_[noted_count_++] = at;
    if (noted_count_ == kMostNoted) end_ = at + 1 + exits_[*at].slots;
  }
  void go(const std::uint64_t* at, std::uint64_t events, std::uint64_t instructions) {
    at_ = at;
    events_ += events;
    instructions_ += instructions;
  }

  // What was passed over.
  std::size_t words() const { return static_cast<std::size_t>(at_ - first_); }
  std::uint64_t events() const { return events_; }
  std::uint64_t instructions() const { return instructions_; }
  /// The places of events that were to be noted.
  std::span<const std::uint64_t* const> noted() const { return std::span(noted_).first(noted_count_); }

 private:
  const std::uint64_t* first_;
  const std::uint64_t* at_;
  const std::uint64_t* end_;
  std::span<const WordExit> exits_;
  std::uint64_t events_ = 0;
  std::uint64_t instructions_ = 0;
  std::size_t noted_count_ = 0;
  std::array<const std::uint64_t*, kMostNoted> noted_;  // the first noted_count_
};

}  // namespace loopfold::trace
