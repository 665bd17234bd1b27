// What exact folding expects next: one point, and with it all the points that can follow it within its row.
//
// After a point that an innermost block with a known step took, the next one is expected one step further; while
// cruising (adaptive_cruise.h), after the last point of a row, the first of the predicted next row. What is expected is
// kept as numbers to be compared, so that a point as expected costs a compare and an add, wherever its block is.
//
// Bytes of a word that was stored as a whole have one producer, words of a vector too. Read one by one, they make as
// many blocks of every eighth byte, say, which take turns: each point belongs to another block than the one before it.
// Blocks that are known to do so, with one stride and all of their next points within it, will do so as long as points
// are as predicted, so only one of them has to be asked.
//
// Three things end that: the row is complete, a number would not fit into 64 bits, or a modular label comes to the end
// of its window. How many points come before is found out once, and *granted*: these need no other test.
//
// A run is compared once: if its first point is the expected one and its steps are those of the row, all points of both
// are the same until the run or what is granted ends. What comes behind is found out as if points came one by one. So
// runs are as exact as points, and a row costs the same whatever its length.
#include <algorithm>
#include <limits>

#include "fold/adaptive_exact.h"

namespace loopfold::fold::adaptive {

namespace {

constexpr std::int64_t kAtOnce = std::numeric_limits<std::uint32_t>::max();  // points that can be granted

}  // namespace

/// So many of the next n points of the row, which has so many, have numbers that fit and lie in their windows.
std::uint64_t Exact::within_reach(std::uint64_t n) const {
  for (int i = 0; i <= grow_.layout.outputs; ++i) n = count_fitting(next(i), step(i), n);
  for (int o = 0; modular_ && o < grow_.layout.outputs; ++o) {
    const Window& window = windows()[View::at(o)];
    if (window.modulus != 0) n = count_within(next(1 + o), step(1 + o), n, window.low, window.high);
  }
  return n;
}

/// How many points can come that need no look at anything but what is next.
void Exact::grant() {
  const std::int64_t rest = std::min(most() - *active_, kAtOnce);
  granted_ = remaining_ = static_cast<std::uint32_t>(within_reach(static_cast<std::uint64_t>(rest)));
}

/// For a run, which may have more points than can be granted otherwise; says how many are, of n at most.
std::uint64_t Exact::grant_at_least(std::uint64_t n) {
  settle();
  const auto rest = static_cast<std::uint64_t>(most() - *active_);
  if (remaining_ == rest) return remaining_;
  const std::uint64_t taken = within_reach(std::min(n, rest));
  *active_ += static_cast<std::int64_t>(taken - remaining_);
  return taken;
}

/// What was granted is used up.
void Exact::expect_more() {
  settle();
  if (*active_ != most() && next_fits() && (!modular_ || wrap_next())) grant();
}

/// While points are as expected, only what is next and how many may come is kept up to date: the count that grows, and
/// the last coordinate, follow from these.
void Exact::settle() {
  if (granted_ == 0) return;
  *active_ += granted_ - remaining_;
  granted_ = remaining_;
  last()[grow_.layout.dimensions - 1] = wrapping_add(next(0), -step(0));
}

/// Whether it did not wrap in the last step.
bool Exact::next_fits() const {
  bool large = false;
  for (int i = 0; i <= grow_.layout.outputs; ++i) {
    std::int64_t sum = 0;
    large |= __builtin_add_overflow(wrapping_add(next(i), step(i), ~std::uint64_t{0}), step(i), &sum);
  }
  return !large;
}

std::uint64_t Exact::expected_run(const Run& run) {
  const int inner = grow_.layout.dimensions - 1;
  const int outputs = grow_.layout.outputs;
  std::uint64_t first = 0;  // points that are done
  if (remaining_ == 0) {
    if (take_turns()) return turns_in(run);
    if ((!cruise_ && !in_convoy()) || !enter_row(run.point, run.labels)) return 0;
    if (const std::uint64_t taken = whole_row(run)) return taken;
    expect_in_cruise(run.point, run.labels);
    if (remaining_ == 0) return 1;
    first = 1;
  } else {
    if (run.point[inner] != next(0) || !in_last_row(run.point)) return 0;
    for (int o = 0; o < outputs; ++o)
      if (run.labels[o] != next(1 + o)) return 0;
  }
  if (step(0) != run.stride) return first;
  for (int o = 0; o < outputs; ++o)
    if (run.steps[o] != step(1 + o)) return first;
  const std::uint64_t rest = run.n - first;
  const std::uint64_t taken = rest <= remaining_ ? rest : grant_at_least(rest);
  for (int i = 0; i <= outputs; ++i) next(i) = wrapping_add(next(i), step(i), taken);
  remaining_ -= static_cast<std::uint32_t>(std::min<std::uint64_t>(taken, remaining_));
  if (remaining_ == 0) expect_more();
  return first + taken;
}

/// The only block of this level that may grow still; null if there are several. It has taken the last row, as a whole:
/// others take what it predicts no more than if they were not there.
Block* Exact::only_block(int level) {
  Block* found = nullptr;
  for (Block& block : levels_[View::at(level)]) {
    if (block.closed || is_behind(grow_.layout, block, level, last()[level])) continue;
    if (found != nullptr) return nullptr;
    found = &block;
  }
  return found;
}

/// Whether the point starts the row that the block of this level predicts.
bool Exact::start_cruise(int level, const std::int64_t* point, const std::int64_t* labels) {
  Block* const only = only_block(level);
  if (only == nullptr || only->windows || !only->knows(level) || !cruises_) return false;
  Block& block = *only;
  auto cruise = std::make_unique<Cruise>(grow_.layout, block, level);
  if (!cruise->start(grow_.layout, last(), point, labels)) return false;
  cruise_ = std::move(cruise);
  set_steps(block);
  return true;
}

/// While cruising, behind the last point of an innermost row: whether the point is the first of the predicted one.
bool Exact::start_row(const std::int64_t* point, const std::int64_t* labels) {
  if (!enter_row(point, labels)) return false;
  expect_in_cruise(point, labels);
  return true;
}

/// The same, without saying what comes after it.
bool Exact::enter_row(const std::int64_t* point, const std::int64_t* labels) {
  const Layout& layout = grow_.layout;
  if (cruise_) {
    if (!cruise_->next_row(layout, last(), point, labels)) return false;
  } else {
    if (!rare_->convoy->next_row(layout, point, labels)) return false;
    set_steps(row_block());
  }
  for (int k = 0; k < layout.dimensions; ++k) last()[k] = point[k];
  return true;
}

/// If a run is the whole row that it has entered, or more than that, takes the row and says how many points that are;
/// else 0.
std::uint64_t Exact::whole_row(const Run& run) {
  const Layout& layout = grow_.layout;
  const int inner = layout.dimensions - 1;
  const std::int64_t extent = row_extent();
  if (run.n <= static_cast<std::uint64_t>(extent) || !row_block().knows(inner) || step(0) != run.stride) return 0;
  std::int64_t last_at = 0;
  bool other = __builtin_mul_overflow(run.stride, extent, &last_at) ||
               __builtin_add_overflow(run.point[inner], last_at, &last_at);
  for (int o = 0; o < layout.outputs; ++o) {
    std::int64_t end = 0;
    other |= run.steps[o] != step(1 + o) || __builtin_mul_overflow(run.steps[o], extent, &end) ||
             __builtin_add_overflow(run.labels[o], end, &end);
  }
  if (other) return 0;
  last()[inner] = last_at;
  row_count() = extent;
  return static_cast<std::uint64_t>(extent) + 1;
}

/// What comes after the first point of an innermost row.
void Exact::expect_in_cruise(const std::int64_t* point, const std::int64_t* labels) {
  const Layout& layout = grow_.layout;
  const int inner = layout.dimensions - 1;
  const std::int64_t extent = row_extent();
  if (extent == 0 || !row_block().knows(inner)) return;
  modular_ = false;
  active_ = &row_count();
  bool large = extent > kAtOnce;
  for (int i = 0; i <= layout.outputs; ++i) {
    const std::int64_t from = i == 0 ? point[inner] : labels[i - 1];
    std::int64_t end = 0;
    large |= __builtin_mul_overflow(step(i), extent, &end);
    large |= __builtin_add_overflow(from, end, &end);
    set(next(i), wrapping_add(from, step(i)));
  }
  if (!large)
    granted_ = remaining_ = static_cast<std::uint32_t>(extent);
  else if (next_fits())
    grant();
}

/// What comes after the last point, which has these labels, while cruising; no number is large.
void Exact::expect_behind(const std::int64_t* labels) {
  const Layout& layout = grow_.layout;
  const std::int64_t rest = row_extent() - row_count();
  granted_ = remaining_ = static_cast<std::uint32_t>(rest);
  if (rest == 0) return;
  modular_ = false;
  active_ = &row_count();
  for (int i = 0; i <= layout.outputs; ++i)
    set(next(i), wrapping_add(i == 0 ? last()[layout.dimensions - 1] : labels[i - 1], step(i)));
}

/// The levels become what they would be without cruising.
void Exact::stop_cruise() {
  const int level = cruise_->level();
  std::vector<Block> rows = cruise_->stop(grow_.layout);
  cruise_.reset();
  for (std::size_t k = View::at(level) + 1; k < rows.size(); ++k)
    if (rows[k].words) levels_[k].push_back(std::move(rows[k]));
}

/// The steps of its innermost rows.
void Exact::set_steps(const Block& block) {
  const std::int64_t* part = block.words.get() + grow_.layout.part(grow_.layout.dimensions - 1);
  for (int i = 0; i <= grow_.layout.outputs; ++i) step(i) = part[i];
}

/// Sets what is next to one step behind an innermost point; false if that does not fit.
bool Exact::expect_after(const std::int64_t* point, const std::int64_t* labels) {
  bool large = __builtin_add_overflow(point[grow_.layout.dimensions - 1], step(0), &next(0));
  for (int o = 0; o < grow_.layout.outputs; ++o) large |= __builtin_add_overflow(labels[o], step(1 + o), &next(1 + o));
  return !large;
}

/// Finds the block that took the last point, and what would come next in it.
void Exact::expect_next(const std::int64_t* labels) {
  const Layout& layout = grow_.layout;
  const int inner = layout.dimensions - 1;
  for (Block& block : levels_[View::at(inner)]) {
    if (block.closed || !block.knows(inner) || grow_.last_at(block, inner) != last()[inner]) continue;
    set_steps(block);
    if (!expect_after(last(), labels)) return;
    active_ = &values_of(layout, block, inner)[layout.extent(inner)];
    modular_ = block.windows != nullptr;
    if (!modular_ || wrap_next()) grant();
    return;
  }
}

bool Exact::in_last_row(const std::int64_t* point) const {
  return std::equal(point, point + (grow_.layout.dimensions - 1), last());
}

/// Behind a point that was predicted but not expected, which came after `before`: whether it is worth a look. Often
/// enough that it costs little, seldom enough if it is in vain.
bool Exact::may_take_turns(std::int64_t before) {
  const int inner = grow_.layout.dimensions - 1;
  const std::size_t blocks = levels_[View::at(inner)].size();
  if (blocks < 2 || blocks > Rare::kMostTurns) return false;
  Rare& rare = this->rare();
  rare.streak = rare.streak != 0 && rare.last == before ? rare.streak + 1 : 1;
  rare.last = last()[inner];
  return rare.streak % 8 == 4;
}

/// Whether all innermost blocks take turns, from here on.
bool Exact::find_turns() {
  const Layout& layout = grow_.layout;
  const int inner = layout.dimensions - 1;
  const Level& blocks = levels_[View::at(inner)];
  std::array<Wide, Rare::kMostTurns> next{};
  const std::int64_t stride = blocks[0].words[View::at(layout.part(inner))];
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    if (block.closed || block.before || block.windows || !block.knows(inner)) return false;
    if (block.words[View::at(layout.part(inner))] != stride) return false;
    next[i] = grow_.last_at(block, inner) + stride;
    if (next[i] <= last()[inner] || next[i] > static_cast<Wide>(last()[inner]) + stride) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (next[j] == next[i]) return false;
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) rare_->order[i] = static_cast<std::uint8_t>(i);
  std::sort(rare_->order.begin(), rare_->order.begin() + static_cast<std::ptrdiff_t>(blocks.size()),
            [&](std::uint8_t a, std::uint8_t b) { return next[a] < next[b]; });
  rare_->turns = static_cast<std::uint8_t>(blocks.size());
  rare_->turn = 0;
  return true;
}

/// If this point of the row is what the block predicts whose turn it is, adds it.
template <typename Label>
bool Exact::takes_turn(std::int64_t at, const Label& label) {
  const Layout& layout = grow_.layout;
  const int inner = layout.dimensions - 1;
  Rare& rare = *rare_;
  Block& block = levels_[View::at(inner)][rare.order[rare.turn]];
  const std::int64_t* const part = block.words.get() + layout.part(inner);
  std::int64_t* const own = values_of(layout, block, inner);
  const std::int64_t count = own[layout.extent(inner)] + 1;
  if (at != own[layout.start(inner)] + static_cast<Wide>(count) * part[0]) return false;
  for (int o = 0; o < layout.outputs; ++o)
    if (label(o) != own[o] + static_cast<Wide>(count) * part[1 + o]) return false;
  own[layout.extent(inner)] = count;
  last()[inner] = at;
  rare.turn = static_cast<std::uint8_t>(rare.turn + 1 == rare.turns ? 0 : rare.turn + 1);
  return true;
}

bool Exact::in_turn(const std::int64_t* point, const std::int64_t* labels) {
  return in_last_row(point) && takes_turn(point[grow_.layout.dimensions - 1], [&](int o) { return labels[o]; });
}

std::uint64_t Exact::turns_in(const Run& run) {
  if (!in_last_row(run.point)) return 0;
  const std::int64_t first = run.point[grow_.layout.dimensions - 1];
  std::uint64_t k = 0;
  while (k < run.n && takes_turn(wrapping_add(first, run.stride, k),
                                 [&](int o) { return wrapping_add(run.labels[o], run.steps[o], k); }))
    ++k;
  return k;
}

/// Of the block that the expected point belongs to.
const std::vector<Window>& Exact::windows() const {
  const Layout& layout = grow_.layout;
  const int inner = layout.dimensions - 1;
  const std::vector<Block>& blocks = levels_[View::at(inner)];
  const auto own = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) {
    return grow_.view(block, inner).values() + layout.extent(inner) == active_;
  });
  return *own->windows;
}

/// Brings modular labels back into the part of their windows that was seen already; false if they are not there, or if
/// distances have to be measured.
bool Exact::wrap_next() {
  const std::vector<Window>& all = windows();
  for (int o = 0; o < grow_.layout.outputs; ++o) {
    const Window& window = all[View::at(o)];
    if (window.modulus == 0) continue;
    Wide label = next(1 + o);
    if (label > window.high) label -= window.modulus;
    if (label < window.low) label += window.modulus;
    if (label < window.low || label > window.high) return false;
    if (grow_.layout.distance_dimension(o) == grow_.layout.dimensions - 1) return false;
    next(1 + o) = static_cast<std::int64_t>(label);
  }
  return true;
}

}  // namespace loopfold::fold::adaptive
