// The search. The essay is in search.h.
#include "reconstruct/search.h"

#include <algorithm>
#include <utility>

namespace loopfold::reconstruct {

namespace {

constexpr std::size_t kMostCandidates[kMostDetours + 1] = {600, 800, 400, 200, 100};  // that are kept, by detours
constexpr std::size_t kMostCoefficients = 48;
constexpr std::int64_t kEveryEnd = 24;   // a shorter range is unfolded to all its iterations
constexpr std::int64_t kSomeEnds = 6;    // a longer one to so many at its beginning and its end
constexpr std::size_t kMostSeen = 4096;  // hypotheses that are recognised when they come again

/// The level that is expected to step next, and whether a bound says so. Nothing if no loop can.
struct Expected {
  std::size_t level = 0;
  bool by_bound = false;
};

std::optional<Expected> find_expected(const Hypothesis& h) {
  for (std::size_t l = h.levels(); l-- > 0;) {
    if (h.is_open(l) && h.bound[l] == kUnbounded) {
      if (!h.may_step(l)) continue;
      return Expected{l, false};
    }
    if (h.index[l] < h.bound[l] && h.may_step(l)) return Expected{l, true};
  }
  return std::nullopt;
}

/// The shape with open visits ended where they are: it generates what the hypothesis has explained.
Shape closed_shape(const Hypothesis& h) {
  Hypothesis copy = h;
  for (std::size_t m = 1; m < h.levels(); ++m) {
    if (!h.is_open(m)) continue;
    std::size_t r = m;
    while (r > 0 && h.index[r - 1] == 0) --r;
    if (r == 0)
      copy.shape.w[m] = h.index[m];
    else
      copy.shape.u[m][r - 1] = h.index[m] - h.bound[m];
  }
  copy.shape.w[0] = kUnbounded;
  return copy.shape;
}

}  // namespace

std::size_t predict(Hypothesis h, std::span<std::uint64_t> into) {
  std::size_t n = 0;
  for (; n < into.size(); ++n) {
    const std::optional<Expected> expected = find_expected(h);
    if (!expected) break;
    h.step(expected->level);
    into[n] = h.address;
  }
  return n;
}

std::int64_t cost_of(const Nest& nest) {
  std::int64_t cost = 1;
  for (std::size_t j = 0; j < nest.levels(); ++j) {
    cost += 2;
    for (std::size_t r = 0; r < j; ++r) cost += nest.bound_coefficient(j, r) != 0 ? 1 : 0;
  }
  return cost;
}

std::int64_t value_of(const Nest& nest) {
  return static_cast<std::int64_t>(nest.count) - cost_of(nest) * (nest.levels() > 1 ? 2 : 1);
}

void Search::start(std::uint64_t first) {
  current_ = Hypothesis(first);
  carrier_count_ = 0;
  best_.reset();
  slots_.clear();
  free_.clear();
  for (std::set<Key>& queue : queues_) queue.clear();
  candidate_bytes_ = 0;
  seen_.clear();
  coefficients_.clear();
  tries_ = 0;
  detour_tries_.fill(0);
}

// ---- careful steps ----------------------------------------------------------------------------------------------

/// Takes one address, if a step reaches it, and offers what else could be the case.
bool Search::careful(Hypothesis& h, std::uint64_t next, Tally* tally) {
  std::uint32_t reached = 0;
  std::size_t chosen = kMaxLevels;
  for (std::size_t l = h.levels(); l-- > 0;) {
    if (h.target(l) == next && h.may_step(l)) {
      const bool longer_than_expected = chosen < kMaxLevels && h.is_open(chosen) && h.index[chosen] == h.bound[chosen];
      if (chosen == kMaxLevels || longer_than_expected) chosen = l;
      reached |= 1U << l;
    }
    if (!h.may_end(l)) break;
  }
  if (reached == 0) return false;
  if (tally != nullptr) {
    const std::optional<Expected> expected = find_expected(h);
    if (expected && h.target(expected->level) == next) ++(expected->by_bound ? tally->by_bounds : tally->by_stride);
  }
  offer_others(h, next, chosen, reached);
  h.step(chosen);
  return true;
}

/// What else could have happened where step(chosen) was taken.
void Search::offer_others(const Hypothesis& h, std::uint64_t next, std::size_t chosen, std::uint32_t reached) {
  for (std::size_t l = 0; l < h.levels(); ++l)
    if (l != chosen && (reached >> l & 1) != 0) offer(h, Kind::kStep, l, next, 1);
  for (std::size_t m = chosen + 1; m < h.levels(); ++m)
    if (h.is_open(m) && h.index[m] > 2) offer_range(h, m);
  for (std::size_t p = 0; p <= h.levels() && takes(h.levels() + 1, h.detours + 1U); ++p) {
    const bool in_range = p <= chosen && h.is_open(chosen) && h.index[chosen] >= 2;
    if (!in_range && h.may_grow(p)) offer(h, Kind::kGrow, p, next, 1);
  }
}

// ---- candidates -------------------------------------------------------------------------------------------------

void Search::offer(const Hypothesis& from, Kind kind, std::size_t level, std::uint64_t next, unsigned more_detours,
                   std::size_t more_levels) {
  const std::size_t levels = from.levels() + (kind == Kind::kGrow ? 1 : 0) + more_levels;
  const unsigned detours = from.detours + more_detours;
  if (!takes(levels, detours)) return;
  Key key{static_cast<std::uint8_t>(levels),
          static_cast<std::uint8_t>(detours),
          ~from.count,
          static_cast<std::uint8_t>(level),
          next_number_++,
          0};
  std::set<Key>& queue = queues_[detours];
  if (queue.size() >= kMostCandidates[detours]) {
    if (*queue.rbegin() < key) return;
    take(*queue.rbegin());
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  key.slot = free_.back();
  free_.pop_back();
  Candidate& candidate = slots_[key.slot];
  from.pack(candidate.from);
  candidate_bytes_ += candidate.from.size() * sizeof(std::int64_t) + 16;
  candidate.kind = kind;
  candidate.level = static_cast<std::uint8_t>(level);
  candidate.next = next;
  if (spare_.empty()) {
    queue.insert(key);
  } else {
    spare_.back().value() = key;
    queue.insert(std::move(spare_.back()));
    spare_.pop_back();
  }
}

/// Loop `level` could have ended at any index from 2 on. (Earlier ends are offered one by one.)
void Search::offer_range(const Hypothesis& h, std::size_t level) { offer(h, Kind::kRange, level, 0, 1); }

/// Takes a candidate out of its queue. Valid until the next one is offered.
const Search::Candidate& Search::take(const Key& key) {
  const std::uint32_t slot = key.slot;
  spare_.push_back(queues_[key.detours].extract(key));
  free_.push_back(slot);
  candidate_bytes_ -= slots_[slot].from.size() * sizeof(std::int64_t) + 16;
  return slots_[slot];
}

std::optional<Search::Key> Search::best_key() const {
  std::optional<Key> best;
  for (const std::set<Key>& queue : queues_)
    if (!queue.empty() && (!best || *queue.begin() < *best)) best = *queue.begin();
  return best;
}

bool Search::within_limits(std::size_t levels, unsigned detours) const {
  return detours == 0 || detour_tries_[levels] < limits_.max_detour_tries;
}

/// Would any hypothesis with so many loops and detours be tried?
bool Search::takes(std::size_t levels, unsigned detours) const {
  return levels <= limits_.max_levels && detours <= kMostDetours && within_limits(levels, detours);
}

std::vector<std::int64_t> Search::ends_worth_trying(const Hypothesis& h, std::size_t level) const {
  std::vector<std::int64_t> ends;
  const std::int64_t last = h.index[level];
  const std::int64_t first = 2;
  if (last - first <= kEveryEnd) {
    for (std::int64_t x = last - 1; x >= first; --x) ends.push_back(x);
    return ends;
  }
  const std::int64_t c = h.shape.c[level];
  const auto add = [&](std::int64_t distance) {
    if (c == 0 || c == std::numeric_limits<std::int64_t>::min() ||
        distance == std::numeric_limits<std::int64_t>::min() || distance % c != 0)
      return;
    const std::int64_t x = distance / c - 1;
    if (x >= first && x < last && std::find(ends.begin(), ends.end(), x) == ends.end()) ends.push_back(x);
  };
  const std::uint64_t begin = level == 0 ? h.shape.base : h.at[level - 1];
  for (std::size_t l = 0; l < level; ++l) add(static_cast<std::int64_t>(h.target(l) - begin));
  for (const std::int64_t coefficient : coefficients_) add(coefficient);
  for (std::int64_t x = 0; x < kSomeEnds; ++x) {
    ends.push_back(last - 1 - x);
    ends.push_back(first + x);
  }
  return ends;
}

/// A range becomes candidates of its own. A long one comes again when all nests with so many loops have failed (`now`),
/// and more coefficients are known.
void Search::unfold(const Hypothesis& from, std::size_t level, std::size_t now) {
  const bool grows = takes(from.levels() + 1, from.detours);
  for (const std::int64_t end : ends_worth_trying(from, level)) {
    const std::uint64_t next = from.target(level) - static_cast<std::uint64_t>(from.shape.c[level]) *
                                                        static_cast<std::uint64_t>(from.index[level] - end);
    // Where nothing may grow, only a step of an outer loop is left, and these stay where they are.
    bool steps = false;
    for (std::size_t l = 0; l < level && !grows; ++l) steps |= from.target(l) == next;
    if (!grows && !steps) continue;
    Hypothesis h = from;
    if (!h.rewind(level, end)) continue;
    for (std::size_t l = level; l-- > 0;) {
      if (h.target(l) == next && h.may_step(l)) offer(h, Kind::kStep, l, next, 0);
      if (!h.may_end(l)) break;
    }
    for (std::size_t p = 0; p <= level && grows; ++p)
      if (h.may_grow(p)) offer(h, Kind::kGrow, p, next, 0);
  }
  if (from.index[level] - 2 > kEveryEnd) offer(from, Kind::kRange, level, 0, 0, now + 1 - from.levels());
}

// ---- trying them ------------------------------------------------------------------------------------------------

void Search::keep_past() {
  if (current_.count < carrier_count_) return;
  carrier_shape_ = closed_shape(current_);
  carrier_count_ = current_.count;
}

void Search::note_best(const Hypothesis& h) {
  const std::uint64_t count = h.complete_count();
  if (count == 0 || (best_ && static_cast<std::int64_t>(count) <= best_value_)) return;
  const std::optional<Nest> nest = h.complete_nest();
  if (!nest) return;
  const std::int64_t value = value_of(*nest);
  if (best_ && value <= best_value_) return;
  best_ = h;
  best_value_ = value;
}

/// What a hypothesis that cannot go on leaves behind: loops that could be inserted, ends that could have been earlier.
void Search::failed(const Hypothesis& h, std::optional<std::uint64_t> next) {
  note_best(h);
  for (std::size_t l = 0; l < h.levels(); ++l) {
    if (coefficients_.size() < kMostCoefficients && h.shape.c[l] != 0 &&
        std::find(coefficients_.begin(), coefficients_.end(), h.shape.c[l]) == coefficients_.end())
      coefficients_.push_back(h.shape.c[l]);
    if (next && coefficients_.size() < kMostCoefficients) {
      const auto distance = static_cast<std::int64_t>(*next - h.at[l]);
      if (distance != 0 && std::find(coefficients_.begin(), coefficients_.end(), distance) == coefficients_.end())
        coefficients_.push_back(distance);
    }
  }
  if (next && takes(h.levels() + 1, h.detours))
    for (std::size_t p = 0; p <= h.levels(); ++p)
      if (h.may_grow(p)) offer(h, Kind::kGrow, p, *next, 0);
  for (std::size_t m = 0; m < h.levels(); ++m)
    if (h.is_open(m) && h.index[m] > 2) offer_range(h, m);
}

/// Does the hypothesis explain the past, and the next address (or, without one, can it end here)?
bool Search::explains_past(Hypothesis& h, std::optional<std::uint64_t> next, std::int64_t& credit) {
  if (h.count < carrier_count_) {
    WalkSource past = this->past(h.count);
    const Outcome outcome = advance(h, past, nullptr);
    credit -= static_cast<std::int64_t>(past.rows() / 8);
    if (outcome == Outcome::kMismatch) {
      failed(h, past.front());
      return false;
    }
  }
  if (!next) {
    if (h.complete()) return true;
    failed(h, std::nullopt);
    return false;
  }
  if (h.count > carrier_count_) return true;
  AddressSource one(std::span<const std::uint64_t>(&*next, 1));
  if (advance(h, one, nullptr) == Outcome::kThrough) return true;
  failed(h, next);
  return false;
}

bool Search::search(std::optional<std::uint64_t> next, std::int64_t& credit) {
  keep_past();
  if (credit <= 0) {
    note_best(current_);
    return false;
  }
  failed(current_, next);
  while (tries_ < limits_.max_tries && credit > 0) {
    const std::optional<Key> best = best_key();
    if (!best) break;
    const Key key = *best;
    const Candidate& candidate = take(key);
    if (!within_limits(key.levels, key.detours)) continue;
    Hypothesis h = Hypothesis::unpacked(candidate.from);
    h.detours = key.detours;
    if (candidate.kind == Kind::kRange) {
      unfold(h, candidate.level, key.levels);
      continue;
    }
    if (candidate.kind == Kind::kStep)
      h.step(candidate.level);
    else
      h.grow(candidate.level, candidate.next);
    if (seen_.size() < kMostSeen && !seen_.insert(h.hash()).second) continue;
    ++tries_;
    --credit;
    if (key.detours > 0) ++detour_tries_[key.levels];
    if (!explains_past(h, next, credit)) continue;
    current_ = h;
    return true;
  }
  return false;
}

bool Search::recover(std::uint64_t next, std::int64_t& credit) { return search(next, credit); }

bool Search::recover_end(std::int64_t& credit) { return search(std::nullopt, credit); }

std::optional<Nest> Search::best() {
  note_best(current_);
  if (!best_ || best_value_ <= 0) return std::nullopt;
  return best_->complete_nest();
}

std::size_t Search::bytes() const {
  return sizeof *this + candidate_bytes_ + slots_.capacity() * sizeof(Candidate) + slots_.size() * (sizeof(Key) + 32) +
         seen_.size() * 32;
}

}  // namespace loopfold::reconstruct
