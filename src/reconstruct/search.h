// The search for the nest that explains a sequence of addresses from its first one on.
//
// At any time one hypothesis is *current*: it explains everything so far. As long as its bounds say what comes next
// and that comes (section 2.3.1 of the paper), nothing is decided and whole rows are taken at once: *cruising*. Where
// a visit is open (hypothesis.h), each address is looked at: *careful* steps. If several steps reach it, or a loop
// could also begin or end here without a contradiction, the expected one is taken and the others are kept as
// *candidates*.
//
// If the current hypothesis cannot reach an address, the loops that could be inserted there (section 2.3.3) become
// candidates too, and the best candidate is tried: fewest loops first, so that the nest is minimal; of those, the one
// with the fewest *detours* (candidates that were not forced, taken on the way to it); of those, the latest. It has to
// explain the same past. That is not stored: the *carrier*, the hypothesis that came farthest, generates it. So memory
// is bounded by the number of candidates, and the addresses may come from a pipe.
//
// An open loop could have ended at each of its iterations, which for a long one would be far too many candidates. They
// are kept as one *range*, and unfolded only when they are the best choice: to its first and last iterations, those
// where a step reaches the same address, and those that would make the new loop's coefficient one that a failed
// hypothesis has come across (rows that are merged in the first iterations and overlap later show it there).
//
// Limits are numbers of candidates tried, never time: the same addresses give the same nest. Within them the search is
// complete for short open loops, and a heuristic for long ones; what is found is exact in any case.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "reconstruct/hypothesis.h"
#include "reconstruct/source.h"

namespace loopfold::reconstruct {

/// Candidates with more detours than this are not looked at.
inline constexpr std::size_t kMostDetours = 4;

struct SearchLimits {
  std::size_t max_levels = 8;
  std::uint64_t max_tries = 4000;          // candidates tried for one nest
  std::uint64_t max_detour_tries = 10000;  // of these, such with detours, for each number of loops
  bool gamma = true;                       // false: never cruise, look at each address
};

/// How the addresses that were fed had been foreseen.
struct Tally {
  std::uint64_t by_bounds = 0;  // by the paper's gamma
  std::uint64_t by_stride = 0;  // no bound known: the loop goes on
};

enum class Outcome : std::uint8_t { kThrough, kMismatch };

class Search {
 public:
  explicit Search(const SearchLimits& limits) : limits_(limits) {}

  /// Forgets everything; the nest begins with this address.
  void start(std::uint64_t first);
  const Hypothesis& current() const { return current_; }

  /// Takes addresses as long as the current hypothesis explains them.
  template <class Source>
  Outcome advance(Source& in, Tally* tally) {
    return advance(current_, in, tally);
  }

  /// After a mismatch: another hypothesis becomes current that explains all so far and `next`. False if none is found
  /// with at most `credit` work, from which what was done is taken.
  bool recover(std::uint64_t next, std::int64_t& credit);
  /// After the last address: another hypothesis becomes current that explains all and is complete.
  bool recover_end(std::int64_t& credit);

  /// The best nest for a beginning of what was explained, current hypothesis included. Nothing if no nest is worth it.
  std::optional<Nest> best();
  /// Generates what was explained so far, from address number `from` on.
  WalkSource past(std::uint64_t from) const { return {carrier_shape_, from, carrier_count_}; }
  std::uint64_t explained() const { return std::max(carrier_count_, current_.count); }
  /// Makes the current hypothesis the carrier, if it came farther.
  void keep_past();

  std::uint64_t tries() const { return tries_; }
  std::size_t bytes() const;

 private:
  enum class Kind : std::uint8_t { kStep, kGrow, kRange };
  struct Candidate {
    std::vector<std::int64_t> from;  // a packed hypothesis; the memory is kept when the slot is free
    Kind kind = Kind::kGrow;
    std::uint8_t level = 0;
    std::uint64_t next = 0;
  };
  struct Key {
    std::uint8_t levels = 0;
    std::uint8_t detours = 0;
    std::uint64_t before_end = 0;  // ~count: the latest first
    std::uint8_t level = 0;
    std::uint32_t number = 0;
    std::uint32_t slot = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  template <class Source>
  Outcome advance(Hypothesis& h, Source& in, Tally* tally);
  enum class Cruise : std::uint8_t { kThrough, kMismatch, kCareful };
  template <class Source>
  Cruise cruise(Hypothesis& h, Source& in, std::size_t deepest_open, Tally* tally);
  template <class Source>
  Cruise cruise_row(Hypothesis& h, Source& in, bool is_open, Tally* tally);
  template <class Source>
  Cruise carry(Hypothesis& h, Source& in, std::size_t deepest_open, Tally* tally);
  bool careful(Hypothesis& h, std::uint64_t next, Tally* tally);
  void offer_others(const Hypothesis& h, std::uint64_t next, std::size_t chosen, std::uint32_t reached);

  bool search(std::optional<std::uint64_t> next, std::int64_t& credit);
  bool explains_past(Hypothesis& h, std::optional<std::uint64_t> next, std::int64_t& credit);
  void failed(const Hypothesis& h, std::optional<std::uint64_t> next);
  void note_best(const Hypothesis& h);
  void offer(const Hypothesis& from, Kind kind, std::size_t level, std::uint64_t next, unsigned more_detours,
             std::size_t more_levels = 0);
  void offer_range(const Hypothesis& h, std::size_t level);
  void unfold(const Hypothesis& from, std::size_t level, std::size_t now);
  std::vector<std::int64_t> ends_worth_trying(const Hypothesis& h, std::size_t level) const;
  const Candidate& take(const Key& key);
  std::optional<Key> best_key() const;
  bool within_limits(std::size_t levels, unsigned detours) const;
  bool takes(std::size_t levels, unsigned detours) const;

  SearchLimits limits_;
  Hypothesis current_;
  Shape carrier_shape_;
  std::uint64_t carrier_count_ = 0;
  std::optional<Hypothesis> best_;
  std::int64_t best_value_ = 0;
  std::vector<Candidate> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<std::set<Key>::node_type> spare_;         // of queues, to be used again
  std::array<std::set<Key>, kMostDetours + 1> queues_;  // by number of detours
  std::unordered_set<std::uint64_t> seen_;
  std::size_t candidate_bytes_ = 0;
  std::vector<std::int64_t> coefficients_;  // that failed hypotheses had
  std::uint32_t next_number_ = 0;
  std::uint64_t tries_ = 0;
  std::array<std::uint64_t, kMaxLevels + 1> detour_tries_{};
};

/// What bounds and, where there is none, the loop that is running say about the next addresses; how many there are.
std::size_t predict(Hypothesis h, std::span<std::uint64_t> into);

/// What a nest costs to write down, in numbers.
std::int64_t cost_of(const Nest& nest);
/// What it explains beyond that. With two loops or more it has to explain twice its cost to be worth anything: with
/// enough loops, some nest fits any short sequence.
std::int64_t value_of(const Nest& nest);

// ---- the part that every address passes through -----------------------------------------------------------------

template <class Source>
Outcome Search::advance(Hypothesis& h, Source& in, Tally* tally) {
  while (!in.empty()) {
    if (h.levels() == 0) {
      h.grow(0, in.front());
      in.drop();
      continue;
    }
    const std::size_t deepest_open = 31 - static_cast<std::size_t>(__builtin_clz(h.open));
    if (limits_.gamma) {
      const Cruise end = cruise(h, in, deepest_open, tally);
      if (end == Cruise::kThrough) return Outcome::kThrough;
      if (end == Cruise::kMismatch) return Outcome::kMismatch;
    }
    if (!careful(h, in.front(), tally)) return Outcome::kMismatch;
    in.drop();
  }
  return Outcome::kThrough;
}

/// Takes rows and steps that follow from bounds, until an address does not, or something has to be decided.
template <class Source>
Search::Cruise Search::cruise(Hypothesis& h, Source& in, std::size_t deepest_open, Tally* tally) {
  for (;;) {
    const Cruise row = cruise_row(h, in, h.inner() == deepest_open, tally);
    if (row != Cruise::kThrough) return row;
    if (in.empty()) return Cruise::kThrough;
    const Cruise step = carry(h, in, deepest_open, tally);
    if (step != Cruise::kThrough) return step;
    if (in.empty()) return Cruise::kThrough;
  }
}

/// The rest of the current row. kThrough: it was taken to its end, or the source is empty.
template <class Source>
Search::Cruise Search::cruise_row(Hypothesis& h, Source& in, bool is_open, Tally* tally) {
  const std::size_t t = h.inner();
  const std::int64_t bound = h.bound[t];
  const std::int64_t index = h.index[t];
  if (!is_open && index == bound) return Cruise::kThrough;
  if (!h.is_known(t) || (is_open && (index == bound || index < 2))) return Cruise::kCareful;
  const bool expected = bound > index;
  const std::uint64_t most =
      expected ? static_cast<std::uint64_t>(bound - index) : static_cast<std::uint64_t>(kUnbounded - index);
  const std::uint64_t got = in.match(h.target(t), h.shape.c[t], most);
  h.index[t] += static_cast<std::int64_t>(got);
  h.count += got;
  h.at[t] += static_cast<std::uint64_t>(h.shape.c[t]) * got;
  h.address = h.at[t];
  if (t == 0) h.outer_start += got;
  if (tally != nullptr && expected) (bound == kUnbounded ? tally->by_stride : tally->by_bounds) += got;
  if (in.empty()) return Cruise::kThrough;
  if (is_open) return t == 0 ? Cruise::kMismatch : Cruise::kCareful;
  return got == most ? Cruise::kThrough : Cruise::kMismatch;
}

/// The bounds of the loops inside `level` in its next iteration. False if one of them would be empty.
inline bool next_bounds(Hypothesis& h, std::size_t level, std::array<std::int64_t, kMaxLevels>& bounds) {
  const std::size_t n = h.levels();
  if (level + 2 == n)
    return !__builtin_add_overflow(h.bound[n - 1], h.shape.u[n - 1][level], &bounds[n - 1]) && bounds[n - 1] >= 0;
  ++h.index[level];
  bool empty = false;
  for (std::size_t m = level + 1; m < n; ++m)
    empty |= !bound_at(h.shape, m, h.index.data(), level + 1, bounds[m]) || bounds[m] < 0;
  --h.index[level];
  return !empty;
}

/// From the end of a row to the next one, if known bounds alone decide where that is.
template <class Source>
Search::Cruise Search::carry(Hypothesis& h, Source& in, std::size_t deepest_open, Tally* tally) {
  const std::size_t n = h.levels();
  if (n == 1) return Cruise::kCareful;
  for (std::size_t l = n - 1; l-- > 0;) {
    if (l < deepest_open || (l == deepest_open && l != 0)) return Cruise::kCareful;
    if (l != 0 && h.index[l] >= h.bound[l]) {
      if (h.is_fresh(l)) return Cruise::kCareful;
      continue;
    }
    if (!h.is_known(l)) return Cruise::kCareful;
    if (h.is_fresh(n - 1)) return Cruise::kCareful;
    std::array<std::int64_t, kMaxLevels> bounds;
    if (!next_bounds(h, l, bounds)) {
      if (l == 0) return Cruise::kCareful;
      continue;
    }
    const std::uint64_t next = h.target(l);
    if (in.front() != next) return Cruise::kMismatch;
    in.drop();
    ++h.index[l];
    h.at[l] = next;
    for (std::size_t m = l + 1; m < n; ++m) {
      h.index[m] = 0;
      h.at[m] = next;
      h.bound[m] = bounds[m];
    }
    h.address = next;
    if (l == 0) h.outer_start = h.count;
    ++h.count;
    if (tally != nullptr) ++(l == 0 ? tally->by_stride : tally->by_bounds);
    return Cruise::kThrough;
  }
  return Cruise::kCareful;
}

}  // namespace loopfold::reconstruct
