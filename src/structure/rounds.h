// Rounds: iterations of a loop that are the same items of the trace again and again.
//
// In a nest, what comes of each iteration of an outer loop is a few items: literals for what is around the inner loops,
// and a run for each of these. As a rule the next iteration is the same items, and all of their slots have grown by as
// much as the time before. Such an iteration is a *round*. Whoever has seen two of them knows what the next will be,
// and can put off the items that turn out to be just that: nothing of them need be kept but how many there were. When
// something else comes, most of the rounds that were put off can be done at once (RunWalk, ddg/builder_rounds.cc).
//
// A round ends behind a run. Where one may begin is known by the first exit of that run. Exact: an item is put off only
// if it is, in all that it has, what the round predicts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trace/run.h"
#include "trace/types.h"

namespace loopfold::structure {

/// One item of a round.
struct RoundItem {
  /// The paths of a run, as in trace::Run; of a literal the only one.
  struct Path {
    std::vector<trace::ExitId> exits;
    std::vector<std::uint32_t> columns;
    std::uint64_t slots = 0;
    std::uint64_t instructions = 0;
  };
  std::uint64_t iterations = 1;
  std::uint64_t events = 0;
  std::uint64_t instructions = 0;
  std::vector<Path> paths;
  std::vector<trace::RunColumn> columns;  // of a run; where they start is among the round's numbers
  std::size_t first = 0;                  // of these: slots of a literal, or starts of columns
  std::size_t count = 0;

  bool literal() const { return iterations == 1; }
};

class Round {
 public:
  static constexpr std::size_t kMostItems = 8;
  static constexpr std::uint64_t kShortestRun = 8;

  /// Whether a run may be the last item of a round, or one in it; a literal may only be in it.
  static bool may_end(const trace::Run& run);
  static bool may_hold(const trace::Run& run) { return run.literal() ? run.sides.empty() : may_end(run); }

  /// The items of the first one, in turn; their numbers are now().
  void add(const trace::Run& run);
  std::span<const RoundItem> items() const { return items_; }

  /// Whether this may be item number `at` of a round, whatever its numbers are.
  bool is_item(std::size_t at, const trace::Run& run) const;
  /// Its numbers are those of the round that runs.
  void take(std::size_t at, const trace::Run& run);
  /// The round that ran is the one before.
  void go_on() {
    before_.swap(now_);
    now_.resize(before_.size());
  }
  /// What all numbers have grown by since then.
  void find_growth();
  /// It may be what it was in another entry of the loop.
  bool knows_growth() const { return !growth_.empty(); }
  void forget_growth() { growth_.clear(); }
  /// Whether it is item number `at` in all it has, so many rounds behind the one that ran last.
  bool is_predicted(std::size_t at, const trace::Run& run, std::uint64_t rounds) const;
  /// That item. It holds until the next call.
  const trace::Run& predicted(std::size_t at, std::uint64_t rounds);
  /// The round so many behind the one that ran last is that now.
  void move(std::uint64_t rounds);

  /// By number: in the round that ran last, and what they grow by from one to the next.
  std::span<const std::uint64_t> now() const { return now_; }
  std::span<const std::uint64_t> growth() const { return growth_; }
  trace::ThreadId thread() const { return thread_; }

 private:
  trace::ThreadId thread_ = 0;
  std::vector<RoundItem> items_;
  std::vector<std::uint64_t> now_;
  std::vector<std::uint64_t> before_;
  std::vector<std::uint64_t> growth_;

  // Of predicted().
  trace::Run run_;
  std::vector<trace::RunPath> paths_;
  std::vector<trace::RunColumn> columns_;
  std::vector<std::uint64_t> slots_;
};

/// The rounds that are known, by where they may begin.
class Rounds {
 public:
  struct Known {
    trace::ExitId exit = 0;
    std::unique_ptr<Round> round;  // null: not yet
    std::uint32_t met = 0;         // runs that it may begin behind, since it was thought of
    std::uint32_t skip = 0;        // so many are not looked at, since the last ones were in vain
    std::uint32_t failures = 0;

    void fail();
    void succeed() { failures = 0; }
  };
  /// That of a run.
  Known& of(const trace::Run& run);

 private:
  static constexpr std::size_t kMost = 256;

  std::vector<Known> known_ = std::vector<Known>(kMost);
};

}  // namespace loopfold::structure
