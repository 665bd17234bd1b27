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
  const WordExit* front() const { return front(at_); }
  const WordExit* front(const std::uint64_t* at) const {
    if (at == end_ || *at >= exits_.size()) [[unlikely]]
      return nullptr;
    const WordExit& exit = exits_[*at];
    return static_cast<std::size_t>(end_ - at) > exit.slots ? &exit : nullptr;
  }
  const std::uint64_t* slots() const { return at_ + 1; }
  /// Passes over the next event, which has this exit.
  void pass(const WordExit& exit) {
    if (exit.noted != 0) [[unlikely]]
      note(at_);
    at_ += std::size_t{1} + exit.slots;
    ++events_;
    instructions_ += exit.instructions;
  }
  /// Passes over so many iterations of `words` words each, none of which is to be noted.
  void pass_iterations(std::uint64_t iterations, std::size_t words, std::uint64_t events, std::uint64_t instructions) {
    at_ += iterations * words;
    events_ += iterations * events;
    instructions_ += iterations * instructions;
  }

  const std::uint64_t* at() const { return at_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  // What was passed over.
  std::size_t words() const { return static_cast<std::size_t>(at_ - first_); }
  std::uint64_t events() const { return events_; }
  std::uint64_t instructions() const { return instructions_; }
  /// The places of events that were to be noted.
  std::span<const std::uint64_t* const> noted() const { return std::span(noted_).first(noted_count_); }

 private:
  void note(const std::uint64_t* at) {
    noted_[noted_count_++] = at;
    if (noted_count_ == kMostNoted) end_ = at + 1 + exits_[*at].slots;
  }

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
