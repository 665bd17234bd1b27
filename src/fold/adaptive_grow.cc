#include "fold/adaptive_grow.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace loopfold::fold::adaptive {

namespace {

Window joined(Window a, const Window& b) {
  a.include(b);
  return a;
}

bool shorter(const Window& window, std::int64_t modulus) {
  return static_cast<Wide>(window.high) - window.low < modulus;
}

std::uint32_t bits_from(int q) { return ~std::uint32_t{0} << q; }

/// One multiplication; of numbers that have 128 bits already it would be three.
Wide product(std::int64_t a, std::int64_t b) { return static_cast<Wide>(a) * b; }

}  // namespace

Block Grow::block_of(const Row& row, int level) const {
  Block block;
  block.words = std::make_unique<std::int64_t[]>(View::at(layout.words(level)));
  const int inside = layout.part(level);
  std::copy_n(row.block.words.get(), inside, block.words.get());
  std::int64_t* into = values_of(layout, block, level);
  std::copy_n(values(row), layout.functions(level), into);
  into[layout.start(level)] = row.at;
  into[layout.extent(level)] = 0;
  block.known = row.block.known & bits_from(level + 1);
  block.points = row.block.points;
  if (row.block.windows) {
    block.windows = std::make_unique<std::vector<Window>>(*row.block.windows);
    for (int o = 0; o < layout.outputs; ++o) {
      Window& own = (*block.windows)[View::at(o)];
      if (own.modulus != 0) own = window(row, o, level);
    }
  }
  return block;
}

/// Of the labels of a row, with the distance along the dimension that the row stands on.
Window Grow::window(const Row& row, int output, int level) const {
  Window window = window_of(view(row.block, row.level), output);
  if (row.level > level && layout.distance_dimension(output) == level) {
    window.distance_low = saturated(static_cast<Wide>(row.at) - window.high);
    window.distance_high = saturated(static_cast<Wide>(row.at) - window.low);
  }
  return window;
}

/// The modulus of a function in two blocks that are to be one: 0 if it has none, -1 if they disagree.
std::int64_t Grow::modulus(const Block& a, const Block& b, int function) const {
  if (function >= layout.outputs) return 0;
  const std::int64_t first = a.modulus(function);
  const std::int64_t second = b.modulus(function);
  if (first != 0 && second != 0 && first != second) return -1;
  return first != 0 ? first : second;
}

/// Of a dimension that has some inside.
bool Grow::compare_inside(const Block& block, const Row& row, int level) const {
  const bool plain = !block.windows && !row.block.windows;
  const std::uint32_t both = block.known & row.block.known & bits_from(level + 1);
  if (plain && ((block.known ^ row.block.known) & bits_from(level + 1)) == 0)
    return std::equal(block.words.get(), block.words.get() + View::at(layout.part(level)), row.block.words.get());
  for (int q = level + 1; q < layout.dimensions; ++q) {
    if ((both >> q & 1) == 0) continue;
    const std::int64_t* a = block.words.get() + layout.part(q);
    const std::int64_t* b = row.block.words.get() + layout.part(q);
    if (a[0] != b[0]) return false;
    for (int f = 0; f < layout.functions(q); ++f) {
      if (a[1 + f] == b[1 + f]) continue;
      const std::int64_t m = modulus(block, row.block, f);
      if (m <= 0 || (static_cast<Wide>(a[1 + f]) - b[1 + f]) % m != 0) return false;
    }
  }
  return true;
}

bool Grow::compare_windows(const Block& block, const Row& row, int level) const {
  for (int o = 0; o < layout.outputs; ++o) {
    const std::int64_t m = modulus(block, row.block, o);
    if (m < 0) return false;
    if (m != 0 && !shorter(joined(window_of(view(block, level), o), window(row, o, level)), m)) return false;
  }
  return true;
}

/// Only strides can make coefficients that are not integers.
bool Grow::may_be_fractional(const Block& block, const Block& row, int level) const {
  for (int q = level; q < layout.dimensions; ++q) {
    if (block.words[View::at(layout.part(q))] > 1) return true;
    if (q > level && row.words[View::at(layout.part(q))] > 1) return true;
  }
  return false;
}

bool Grow::representable_with(const Block& block, const Row& row, int level) const {
  if (!may_be_fractional(block, row.block, level)) return true;
  if (!block.windows && !row.block.windows && (row.block.known & ~block.known & bits_from(level + 1)) == 0) {
    // The row adds nothing but itself: the block's own numbers are counted on for a moment.
    Block both;
    both.words.reset(block.words.get());
    both.known = block.known | std::uint32_t{1} << level;
    std::int64_t& extent = values_of(layout, both, level)[layout.extent(level)];
    ++extent;
    const bool fine = representable(view(both, level));
    --extent;
    static_cast<void>(both.words.release());
    return fine;
  }
  Block both = copy_of(layout, block, level);
  absorb(both, row, level);
  return representable(view(both, level));
}

/// The rest of continues(), if the row is where the next one would be.
bool Grow::is_next(const Block& block, const Row& row, int level) const {
  const std::int64_t* part = step_words(block, level);
  const std::int64_t* own = block.words.get() + layout.values(level);
  const std::int64_t count = own[layout.extent(level)] + 1;
  const std::int64_t* theirs = values(row);
  for (int f = 0; f < layout.functions(level); ++f) {
    const Wide off = own[f] + product(count, part[1 + f]) - theirs[f];
    if (off == 0) continue;
    const std::int64_t m = modulus(block, row.block, f);
    if (m <= 0 || off % m != 0) return false;
  }
  if (!same_inside(block, row, level) || !windows_join(block, row, level)) return false;
  const bool same_known = ((block.known ^ row.block.known) & bits_from(level + 1)) == 0;
  return (same_known && block.knows(level)) || representable_with(block, row, level);
}

void Grow::set_modulus(Block& block, int output, std::int64_t modulus, int level) const {
  Window window = window_of(view(block, level), output);
  window.modulus = modulus;
  if (!block.windows) block.windows = std::make_unique<std::vector<Window>>(View::at(layout.outputs));
  (*block.windows)[View::at(output)] = window;
}

void Grow::join_windows(Block& block, const Row& row, int level) const {
  for (int o = 0; o < layout.outputs; ++o) {
    const std::int64_t m = modulus(block, row.block, o);
    if (m == 0) continue;
    const Window theirs = window(row, o, level);
    set_modulus(block, o, m, level);
    Window& own = (*block.windows)[View::at(o)];
    own = joined(own, theirs);
  }
}

void Grow::absorb(Block& block, const Row& row, int level) const {
  if (block.windows || row.block.windows) join_windows(block, row, level);
  const std::uint32_t fresh = row.block.known & ~block.known & bits_from(level + 1);
  if (fresh != 0) {
    for (int q = level + 1; q < layout.dimensions; ++q)
      if ((fresh >> q & 1) != 0)
        std::copy_n(row.block.words.get() + layout.part(q), 1 + layout.functions(q),
                    block.words.get() + layout.part(q));
  }
  block.known |= fresh | std::uint32_t{1} << level;
  block.points += row.block.points;
  ++values_of(layout, block, level)[layout.extent(level)];
}

/// From the last row of the block to `row`; false if a difference does not fit.
bool Grow::step_to(const Block& block, const Row& row, int level, Step& into) const {
  const View own = view(block, level);
  const std::int64_t* part = block.words.get() + layout.part(level);
  const std::int64_t* from = own.values();
  const std::int64_t* to = values(row);
  const std::int64_t last = own.extent(level);
  const Wide stride = static_cast<Wide>(row.at) - (own.start(level) + product(last, part[0]));
  if (!fits(stride)) return false;
  const int functions = layout.functions(level);
  into.stride = static_cast<std::int64_t>(stride);
  into.steps.set_size(View::at(functions));
  std::int64_t* const steps = into.steps.data();
  if (block.windows) {
    for (int f = 0; f < functions; ++f) {
      const Wide step = static_cast<Wide>(to[f]) - (from[f] + product(last, part[1 + f]));
      if (!fits(step)) return false;
      steps[f] = static_cast<std::int64_t>(step);
    }
    return true;
  }
  bool large = false;
  for (int f = 0; f < functions; ++f) {
    const std::int64_t there = wrapping_add(from[f], part[1 + f], static_cast<std::uint64_t>(last));  // it fits
    large |= __builtin_sub_overflow(to[f], there, &steps[f]);
  }
  return !large;
}

bool Grow::set_step(Block& block, const Step& step, int level) const {
  std::int64_t* part = block.words.get() + layout.part(level);
  part[0] = step.stride;
  std::copy(step.steps.begin(), step.steps.end(), part + 1);
  return step.stride > 0;
}

Step Grow::step_of(const Block& block, int level) const {
  const std::int64_t* part = block.words.get() + layout.part(level);
  Step step{part[0], SmallArray<std::int64_t, 16>(View::at(layout.functions(level)))};
  std::copy_n(part + 1, step.steps.size(), step.steps.begin());
  return step;
}

/// Whether the bounds of rows move by whole numbers per coordinate. Any two rows have some fraction between them, so
/// one is only believed of rows that take turns.
bool Grow::is_whole(const Step& step, const Row& row, int level) const {
  if (step.stride <= 1) return true;
  const View own = view(row.block, row.level);
  for (int q = level + 1; q < layout.dimensions; ++q) {
    const Wide first = step.steps[View::at(layout.start(q))];
    const Wide last = first + product(own.stride(q), step.steps[View::at(layout.extent(q))]);
    if (first % step.stride != 0 || last % step.stride != 0) return false;
  }
  return true;
}

bool Grow::try_second_row(Block& block, const Row& row, int level) const {
  if (block.closed || has_step(block, level)) return false;
  Step step;
  if (!same_inside(block, row, level) || !windows_join(block, row, level) || !step_to(block, row, level, step) ||
      !is_whole(step, row, level))
    return false;
  set_step(block, step, level);
  if (representable_with(block, row, level)) {
    absorb(block, row, level);
    return true;
  }
  set_step(block, {0, SmallArray<std::int64_t, 16>(step.steps.size())}, level);
  return false;
}

bool Grow::try_known_modulus(Block& block, const Row& row, int level) const {
  if (!moduli_ || block.closed || !block.knows(level) || block.before) return false;
  Step step;
  if (!same_inside(block, row, level) || !step_to(block, row, level, step)) return false;
  const Step own = step_of(block, level);
  if (step.stride != own.stride) return false;
  Block trial = copy_of(layout, block, level);
  for (int f = 0; f < layout.functions(level); ++f) {
    const Wide off = static_cast<Wide>(step.steps[View::at(f)]) - own.steps[View::at(f)];
    if (off == 0 || (modulus(block, row.block, f) > 0 && off % modulus(block, row.block, f) == 0)) continue;
    if (f >= layout.outputs || modulus(block, row.block, f) != 0) return false;
    const std::int64_t m = (*moduli_)[View::at(f)];
    if (m == 0 || off % m != 0 || !shorter(window_of(view(block, level), f), m)) return false;
    set_modulus(trial, f, m, level);
  }
  if (!continues(trial, row, level)) return false;
  absorb(trial, row, level);
  block = std::move(trial);
  return true;
}

bool Grow::due(const Block& block, const Row& row, int level) const {
  const View own = view(block, level);
  const std::int64_t stride = block.words[View::at(layout.part(level))];
  return row.at >= own.start(level) + product(own.extent(level) + 1, stride);
}

bool Grow::can_break(const Block& block, const Row& row, int level) const {
  Step step;
  return !block.closed && block.knows(level) && !block.before && same_inside(block, row, level) &&
         step_to(block, row, level, step);
}

void Grow::start_break(Block& block, const Row& row, int level) const {
  Block now = block_of(row, level);
  set_step(now, step_of(block, level), level);
  for (int o = 0; o < layout.outputs; ++o)
    if (now.modulus(o) == 0 && block.modulus(o) != 0 && shorter(window_of(view(now, level), o), block.modulus(o)))
      set_modulus(now, o, block.modulus(o), level);
  now.before = std::make_unique<Block>(std::move(block));
  block = std::move(now);
}

/// From the last row before the break to the first one behind it.
bool Grow::break_of(const Block& block, int level, Step& into) const {
  return step_to(*block.before, {block, level, view(block, level).start(level)}, level, into);
}

bool Grow::can_repeat(const Block& block, const Row& row, int level) const {
  return !block.closed && block.before && same_inside(block, row, level);
}

bool Grow::repeats_break(const Block& block, const Row& row, int level) const {
  Step first;
  Step second;
  return break_of(block, level, first) && step_to(block, row, level, second) && first == second;
}

/// Rows x0 x1 | x2 with a row x3 that comes after x2 as x2 after x1: x0 | x1 x2 x3.
bool Grow::try_swap(Block& block, const Row& row, int level) const {
  const Block& before = *block.before;
  if (rows(before, level) != 2 || rows(block, level) != 1 || block.windows || before.windows || row.block.windows)
    return false;
  Step step;
  if (!break_of(block, level, step) || !is_whole(step, row, level)) return false;
  Block first = row_of(view(before, level), 0);
  Block rest = row_of(view(before, level), 1);
  set_step(rest, step, level);
  const Row middle{block, level, view(block, level).start(level)};
  if (!representable_with(rest, middle, level)) return false;
  absorb(rest, middle, level);
  if (!continues(rest, row, level)) return false;
  absorb(rest, row, level);
  rest.before = std::make_unique<Block>(std::move(first));
  block = std::move(rest);
  return true;
}

/// The outputs that jumped at the break and again now, by multiples of one number each. False if that is not so.
bool Grow::find_moduli(const Block& block, const Row& row, int level, Moduli& found) const {
  Step jump;
  Step again;
  const Block& before = *block.before;
  if (!break_of(block, level, jump) || !step_to(block, row, level, again)) return false;
  const Step own = step_of(block, level);
  if (jump.stride != own.stride || again.stride != own.stride) return false;
  for (int f = 0; f < layout.functions(level); ++f) {
    const Wide off = static_cast<Wide>(jump.steps[View::at(f)]) - own.steps[View::at(f)];
    const Wide now = static_cast<Wide>(again.steps[View::at(f)]) - own.steps[View::at(f)];
    const std::int64_t known = modulus(before, block, f);
    if (f >= layout.outputs && (off != 0 || now != 0)) return false;
    if (off == 0 || (known > 0 && off % known == 0)) continue;
    const Wide m = off < 0 ? -off : off;
    if (!fits(m) || known != 0 || now == 0 || now % m != 0) return false;
    const Window window = joined(window_of(view(before, level), f), window_of(view(block, level), f));
    if (!shorter(window, static_cast<std::int64_t>(m))) return false;
    found.emplace_back(f, static_cast<std::int64_t>(m));
  }
  return !found.empty();
}

bool Grow::try_modular(Block& block, const Row& row, int level) {
  Moduli found;
  const Row rest{block, level, view(block, level).start(level)};
  if (rows(block, level) < 2 || !same_inside(*block.before, rest, level) || !find_moduli(block, row, level, found))
    return false;
  Block both = copy_of(layout, *block.before, level);
  set_step(both, step_of(block, level), level);
  for (const auto& [output, m] : found) set_modulus(both, output, m, level);
  if (!windows_join(both, rest, level)) return false;
  absorb(both, rest, level);
  values_of(layout, both, level)[layout.extent(level)] += rows(block, level) - 1;
  if (continues(both, row, level))
    absorb(both, row, level);
  else if (can_break(both, row, level))
    start_break(both, row, level);
  else
    return false;
  if (!moduli_) moduli_ = std::make_unique<std::vector<std::int64_t>>(View::at(layout.outputs));
  for (const auto& [output, m] : found) (*moduli_)[View::at(output)] = m;
  block = std::move(both);
  return true;
}

std::vector<Block> Grow::try_periodic(const Block& block, const Row& row, int level, std::int64_t longest) const {
  const Block& before = *block.before;
  const std::int64_t length = rows(block, level);
  if (length < 2 || length > longest || rows(before, level) != length || block.windows || before.windows ||
      row.block.windows)
    return {};
  Step period;
  if (!same_inside(before, {block, level, 0}, level) || !break_of(block, level, period)) return {};
  const Step own = step_of(block, level);
  const auto add = [&](std::int64_t& sum, std::int64_t step) {
    const Wide whole = sum + static_cast<Wide>(length - 1) * step;
    sum = static_cast<std::int64_t>(whole);
    return fits(whole);
  };
  if (!add(period.stride, own.stride)) return {};
  for (std::size_t f = 0; f < period.steps.size(); ++f)
    if (!add(period.steps[f], own.steps[f])) return {};
  std::vector<Block> blocks;
  for (std::int64_t turn = 0; turn < length; ++turn) {
    Block one = row_of(view(before, level), turn);
    const Block two = row_of(view(block, level), turn);
    const Row next{two, level, view(two, level).start(level)};
    set_step(one, period, level);
    if (!representable_with(one, next, level)) return {};
    absorb(one, next, level);
    blocks.push_back(std::move(one));
  }
  if (!continues(blocks.front(), row, level)) return {};
  absorb(blocks.front(), row, level);
  return blocks;
}

bool Grow::try_prepend(std::vector<Block>& turns, const Block& partial, int level) const {
  const std::int64_t count = rows(partial, level);
  const auto turn = [&](std::int64_t i) -> Block& { return turns[turns.size() - static_cast<std::size_t>(count - i)]; };
  if (count >= static_cast<std::int64_t>(turns.size()) || partial.windows) return false;
  std::vector<Block> longer;
  for (std::int64_t i = 0; i < count; ++i) {
    const Block& rest = turn(i);
    Block whole = row_of(view(partial, level), i);
    const Row next{rest, level, view(rest, level).start(level)};
    Step step;
    if (!same_inside(whole, next, level) || !step_to(whole, next, level, step) || step != step_of(rest, level))
      return false;
    set_step(whole, step, level);
    if (!representable_with(whole, next, level)) return false;
    absorb(whole, next, level);
    values_of(layout, whole, level)[layout.extent(level)] = rows(rest, level);
    longer.push_back(std::move(whole));
  }
  for (std::int64_t i = 0; i < count; ++i) turn(i) = std::move(longer[static_cast<std::size_t>(i)]);
  return true;
}

Block Grow::take_before(Block& block, int level) const {
  Block before = std::move(*block.before);
  block.before.reset();
  for (Block* part : {&before, &block}) {
    if (!part->knows(level)) std::fill_n(part->words.get() + layout.part(level), 1 + layout.functions(level), 0);
    if (!part->windows) forget_degenerate(layout, *part, level);
  }
  return before;
}

bool Grow::same_geometry(const Block& block, const Row& row, int level, std::uint8_t* wrong) const {
  const std::int64_t* part = block.words.get() + layout.part(level);
  const std::int64_t* own = block.words.get() + layout.values(level);
  const std::int64_t count = own[layout.extent(level)] + 1;
  const bool predicts = has_step(block, level);
  if (predicts && row.at != own[layout.start(level)] + product(count, part[0])) return false;
  for (int f = 0; predicts && f < layout.functions(level); ++f) {
    if (own[f] + product(count, part[1 + f]) == values(row)[f]) continue;
    if (f >= layout.outputs) return false;
    wrong[f] = 1;
  }
  for (int q = level + 1; q < layout.dimensions; ++q) {
    if (!block.knows(q) || !row.block.knows(q)) continue;
    const std::int64_t* a = block.words.get() + layout.part(q);
    const std::int64_t* b = row.block.words.get() + layout.part(q);
    if (a[0] != b[0]) return false;
    for (int f = 0; f < layout.functions(q); ++f) {
      if (a[1 + f] == b[1 + f]) continue;
      if (f >= layout.outputs) return false;
      wrong[f] = 1;
    }
  }
  return true;
}

}  // namespace loopfold::fold::adaptive
