#include "fold/adaptive_block.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fold/fraction.h"

namespace loopfold::fold::adaptive {

namespace {

constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();

/// sum += a * b; false if that overflows.
bool add_product(Wide& sum, Wide a, Wide b) {
  Wide product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

bool scale(Function& function, Wide by) {
  if (by == 1) return true;
  const auto multiply = [by](Wide& number) { return !__builtin_mul_overflow(number, by, &number); };
  return multiply(function.constant) && std::all_of(function.steps.begin(), function.steps.end(), multiply);
}

/// One end of the values of a function: counts are eliminated from the inside out; along each, an affine function is
/// extreme at the first or at the last iteration.
bool extreme(const View& view, Function function, bool largest, Wide& into) {
  for (int q = view.layout.dimensions - 1; q >= view.level; --q) {
    const Wide along = function.steps[View::at(q)];
    if (along == 0 || (along > 0) != largest) continue;
    const Function extent = view.function(view.layout.extent(q));
    if (!add_product(function.constant, along, extent.constant)) return false;
    for (int p = view.level; p < q; ++p)
      if (!add_product(function.steps[View::at(p)], along, extent.steps[View::at(p)])) return false;
  }
  into = function.constant;
  return true;
}

/// Points of the rows along dimension q, where `extents` are the extents of dimensions q .. D-1 as they are at the
/// counts before q.
std::uint64_t count_inside(const View& view, int q, FewNumbers<std::int64_t, kMostDimensions> extents) {
  const int dimensions = view.layout.dimensions;
  const auto extent = [&](int d) -> std::int64_t& { return extents[View::at(d)]; };
  const auto step = [&](int along, int d) { return view.step(along, view.layout.extent(d)); };
  const auto rows = static_cast<std::uint64_t>(extent(q)) + 1;
  if (q == dimensions - 1) return rows;
  if (q == dimensions - 2) {
    const Wide pairs = static_cast<Wide>(rows) * (rows - 1) / 2;
    return static_cast<std::uint64_t>(static_cast<Wide>(rows) * (static_cast<Wide>(extent(q + 1)) + 1) +
                                      pairs * step(q, q + 1));
  }
  bool same = true;
  for (int d = q + 1; d < dimensions; ++d) same = same && step(q, d) == 0;
  if (same) return rows * count_inside(view, q + 1, extents);
  std::uint64_t sum = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    sum += count_inside(view, q + 1, extents);
    for (int d = q + 1; d < dimensions; ++d) extent(d) = saturated(static_cast<Wide>(extent(d)) + step(q, d));
  }
  return sum;
}

Function difference(Function a, const Function& b) {
  a.constant -= b.constant;
  for (std::size_t k = 0; k < a.steps.size(); ++k) a.steps[k] -= b.steps[k];
  return a;
}

/// in_coordinates() for what is simple, in 64 bits: all coefficients are integers. False does not say the contrary.
bool whole_in_coordinates(const View& view, const Function& function, Affine& into) {
  std::array<std::int64_t, kMostDimensions> steps;
  bool large = !fits(function.constant);
  for (std::size_t k = 0; k < function.steps.size(); ++k) {
    steps[k] = static_cast<std::int64_t>(function.steps[k]);
    large |= steps[k] != function.steps[k];
  }
  into.constant = static_cast<std::int64_t>(function.constant);
  into.coefficients.assign(function.steps.size(), 0);
  const auto subtract = [&](std::int64_t& from, std::int64_t times, std::int64_t what) {
    std::int64_t product = 0;
    large |= __builtin_mul_overflow(times, what, &product) || __builtin_sub_overflow(from, product, &from);
  };
  for (int q = view.layout.dimensions - 1; q >= view.level; --q) {
    std::int64_t coefficient = steps[View::at(q)];
    if (!view.block.knows(q) || coefficient == 0) continue;
    if (const std::int64_t stride = view.stride(q); stride != 1) {
      if (coefficient % stride != 0) return false;
      coefficient /= stride;
    }
    into.coefficients[View::at(q)] = coefficient;
    const int start = view.layout.start(q);
    subtract(into.constant, coefficient, view.values()[start]);
    for (int p = view.level; p < q; ++p) subtract(steps[View::at(p)], coefficient, view.step(p, start));
  }
  return !large;
}

/// A function of counts on its way to coordinates, in 64 bits: for what is simple, which is nearly everything.
class Plain {
 public:
  explicit Plain(const View& view) : view_(view) {}

  void set(int function) {
    constant_ = view_.values()[function];
    for (int q = view_.level; q < view_.layout.dimensions; ++q) steps_[q] = step(q, function);
  }
  /// To the last coordinate along q, from the first one. False if that does not fit.
  bool go_to_last(int q) {
    const std::int64_t stride = view_.stride(q);
    bool large = subtract(constant_, -stride, view_.extent(q));
    for (int p = view_.level; p < q; ++p) large |= subtract(steps_[p], -stride, step(p, view_.layout.extent(q)));
    return !large;
  }
  /// Whether all coefficients are integers that fit; false does not say the contrary.
  bool is_whole() {
    for (int q = view_.layout.dimensions - 1; q >= view_.level; --q) {
      if (steps_[q] == 0) continue;
      std::int64_t coefficient = steps_[q];
      if (const std::int64_t stride = view_.stride(q); stride != 1) {
        if (coefficient % stride != 0) return false;
        coefficient /= stride;
      }
      const int start = view_.layout.start(q);
      bool large = subtract(constant_, coefficient, view_.values()[start]);
      for (int p = view_.level; p < q; ++p) large |= subtract(steps_[p], coefficient, step(p, start));
      if (large) return false;
    }
    return true;
  }
  /// Whether numerators and the divisor surely fit, by estimates.
  bool is_small() const {
    constexpr double kSmall = 0x1p62;
    std::array<double, kMostDimensions> sizes{};
    for (int q = view_.level; q < view_.layout.dimensions; ++q) sizes[View::at(q)] = size(steps_[q]);
    double constant = size(constant_);
    double scale = 1;
    double most = 1;
    for (int q = view_.layout.dimensions - 1; q >= view_.level; --q) {
      if (!view_.block.knows(q)) continue;
      const double coefficient = sizes[View::at(q)];
      const double stride = size(view_.stride(q));
      const int start = view_.layout.start(q);
      scale *= stride;
      most = std::max(most, coefficient) * stride;
      constant = constant * stride + coefficient * size(view_.values()[start]);
      for (int p = view_.level; p < q; ++p)
        sizes[View::at(p)] = sizes[View::at(p)] * stride + coefficient * size(step(p, start));
    }
    return most < kSmall && scale < kSmall && constant < kSmall;
  }

 private:
  static double size(std::int64_t number) { return std::abs(static_cast<double>(number)); }
  /// True if the result does not fit.
  static bool subtract(std::int64_t& from, std::int64_t times, std::int64_t what) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(times, what, &product) || __builtin_sub_overflow(from, product, &from);
  }
  std::int64_t step(int q, int function) const {
    return function < view_.layout.functions(q) ? view_.step(q, function) : 0;
  }

  const View& view_;
  std::int64_t constant_ = 0;
  std::array<std::int64_t, kMostDimensions> steps_{};
};

/// Iterations after the first one, in the longest row along dimension q.
std::int64_t largest_extent(const View& view, int q) {
  const int extent = view.layout.extent(q);
  bool same = true;
  for (int p = view.level; p < q; ++p) same = same && view.step(p, extent) == 0;
  if (same) return view.values()[extent];
  std::int64_t low = 0;
  std::int64_t high = 0;
  extremes(view, view.function(extent), low, high);
  return high;
}

/// plainly_representable() for a block of the innermost level, step by step the same: bounds are numbers.
bool row_is_plainly_representable(const View& view) {
  constexpr double kSmall = 0x1p62;
  const auto size = [](std::int64_t number) { return std::abs(static_cast<double>(number)); };
  const int inner = view.level;
  const std::int64_t* const values = view.values();
  const bool known = view.block.knows(inner);
  const double stride = known ? size(view.stride(inner)) : 1;
  const double start = size(view.start(inner));
  for (int o = 0; o < view.layout.outputs; ++o) {
    const double step = known ? size(view.step(inner, o)) : 0;
    if (!(std::max(1.0, step) * stride < kSmall && size(values[o]) * stride + step * start < kSmall)) return false;
  }
  std::int64_t along = 0;
  return !__builtin_mul_overflow(view.stride(inner), view.extent(inner), &along) &&
         !__builtin_add_overflow(view.start(inner), along, &along);
}

/// Whether a block is representable for simple reasons. False does not say the contrary.
bool plainly_representable(const View& view) {
  if (view.level == view.layout.dimensions - 1) return row_is_plainly_representable(view);
  Plain plain(view);
  for (int o = 0; o < view.layout.outputs; ++o) {
    plain.set(o);
    if (!plain.is_small()) return false;
  }
  for (int q = view.level; q < view.layout.dimensions; ++q) {
    plain.set(view.layout.start(q));
    if (!plain.is_whole()) return false;
    plain.set(view.layout.start(q));
    if (!plain.go_to_last(q) || !plain.is_whole()) return false;
  }
  return true;
}

/// Whether rows along q are equally long wherever they are in the block.
bool has_one_extent(const View& view, int q) {
  const int extent = view.layout.extent(q);
  for (int p = view.level; p < q; ++p)
    if (view.step(p, extent) != 0) return false;
  return true;
}

/// The ends of a function of counts, step by step: for what is simple, in 64 bits.
class PlainEnds {
 public:
  PlainEnds(const View& view, std::int64_t constant) : view_(view), low_(constant), high_(constant) {}
  /// It grows by so much along q. False if that is not simple.
  bool go_along(int q, std::int64_t step) {
    if (step == 0) return true;
    std::int64_t by = 0;
    if (!has_one_extent(view_, q) || __builtin_mul_overflow(step, view_.extent(q), &by)) return false;
    std::int64_t& end = step > 0 ? high_ : low_;
    return !__builtin_add_overflow(end, by, &end);
  }
  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }

 private:
  const View& view_;
  std::int64_t low_;
  std::int64_t high_;
};

/// window_of() a label that is not modular, for simple reasons; false does not say that there is none.
bool plain_window_of(const View& view, int output, Window& into) {
  const Layout& layout = view.layout;
  const std::int64_t label = view.values()[output];
  PlainEnds labels(view, label);
  for (int q = view.level; q < layout.dimensions; ++q)
    if (!labels.go_along(q, view.step(q, output))) return false;
  into.low = labels.low();
  into.high = labels.high();
  const int along = layout.distance_dimension(output);
  if (along < view.level) return true;
  std::int64_t first = 0;
  if (__builtin_sub_overflow(view.start(along), label, &first)) return false;
  PlainEnds distances(view, first);
  for (int q = view.level; q < layout.dimensions; ++q) {
    std::int64_t step = q < along ? view.step(q, layout.start(along)) : 0;
    if (q == along && view.block.knows(q)) step = view.stride(q);
    if (__builtin_sub_overflow(step, view.step(q, output), &step) || !distances.go_along(q, step)) return false;
  }
  into.distance_low = distances.low();
  into.distance_high = distances.high();
  return true;
}

/// range_of() a coordinate whose bounds are numbers. False does not say the contrary.
bool constant_range_of(const View& view, int q, Range& into) {
  const int start = view.layout.start(q);
  for (int p = view.level; p < q; ++p)
    if (view.step(p, start) != 0) return false;
  std::int64_t last = 0;
  if (!has_one_extent(view, q) || __builtin_mul_overflow(view.stride(q), view.extent(q), &last) ||
      __builtin_add_overflow(view.start(q), last, &last))
    return false;
  into.stride = view.stride(q);
  into.divisor = 1;
  into.lower.constant = view.start(q);
  into.upper.constant = last;
  into.lower.coefficients.assign(View::at(q), 0);
  into.upper.coefficients.assign(View::at(q), 0);
  return true;
}

bool is_point(const View& view) {
  if (view.level != 0 || view.block.known != 0 || view.block.windows) return false;
  for (int q = 0; q < view.layout.dimensions; ++q)
    if (view.extent(q) != 0) return false;
  return true;
}

/// piece_of() such a block: all is constant.
Piece point_of(const View& view, std::size_t outputs) {
  const Layout& layout = view.layout;
  Piece piece;
  piece.points = view.block.points;
  piece.ranges.resize(View::at(layout.dimensions));
  for (int q = 0; q < layout.dimensions; ++q) {
    Range& range = piece.ranges[View::at(q)];
    for (Affine* const bound : {&range.lower, &range.upper}) {
      bound->constant = view.start(q);
      bound->coefficients.resize(View::at(q));
    }
  }
  piece.outputs.resize(outputs);
  for (int o = 0; o < layout.outputs; ++o) {
    Output& output = piece.outputs[layout.select[View::at(o)]];
    const std::int64_t label = view.values()[o];
    output.top.assign(View::at(layout.dimensions), false);
    output.value.constant = output.minimum = output.maximum = label;
    output.value.coefficients.resize(View::at(layout.dimensions));
    if (const int along = layout.distance_dimension(o); along >= 0)
      output.distance_minimum = output.distance_maximum = distance(view.start(along), label);
  }
  return piece;
}

}  // namespace

Function View::function(int index) const {
  Function f;
  f.constant = values()[index];
  f.steps.assign_zeros(at(layout.dimensions));
  for (int q = level; q < layout.dimensions && index < layout.functions(q); ++q) f.steps[at(q)] = step(q, index);
  return f;
}

Function View::coordinate(int q) const {
  Function f = function(layout.start(q));
  if (block.knows(q)) f.steps[at(q)] = stride(q);
  return f;
}

Function View::last_coordinate(int q) const {
  Function f = function(layout.start(q));
  const Function extent = function(layout.extent(q));
  const Wide by = stride(q);
  f.constant += by * extent.constant;
  for (std::size_t p = 0; p < f.steps.size(); ++p) f.steps[p] += by * extent.steps[p];
  return f;
}

Block copy_of(const Layout& layout, const Block& block, int level) {
  Block copy;
  const int words = layout.words(level);
  copy.words = std::make_unique<std::int64_t[]>(View::at(words));
  std::copy_n(block.words.get(), words, copy.words.get());
  copy.points = block.points;
  copy.known = block.known;
  copy.closed = block.closed;
  if (block.windows) copy.windows = std::make_unique<std::vector<Window>>(*block.windows);
  return copy;
}

bool extremes(const View& view, const Function& function, std::int64_t& low, std::int64_t& high) {
  Wide from = 0;
  Wide to = 0;
  const bool whole = extreme(view, function, false, from) && extreme(view, function, true, to);
  low = whole ? saturated(from) : kLow;
  high = whole ? saturated(to) : kHigh;
  return whole && fits(from) && fits(to);
}

Window window_of(const View& view, int output) {
  if (view.block.modulus(output) != 0) return (*view.block.windows)[View::at(output)];
  Window window;
  if (plain_window_of(view, output, window)) return window;
  window = {};
  const Function label = view.function(output);
  extremes(view, label, window.low, window.high);
  const int along = view.layout.distance_dimension(output);
  if (along >= view.level)
    extremes(view, difference(view.coordinate(along), label), window.distance_low, window.distance_high);
  return window;
}

bool in_coordinates(const View& view, Function function, Affine& into, std::int64_t& divisor) {
  divisor = 1;
  if (whole_in_coordinates(view, function, into)) return true;
  Fraction all(View::at(view.layout.dimensions));  // steps are still over the same divisor
  for (int q = view.layout.dimensions - 1; q >= view.level; --q) {
    if (!view.block.knows(q)) continue;
    const std::int64_t stride = view.stride(q);
    const Wide more = quotient(stride, gcd(function.steps[View::at(q)], stride));
    if (!all.extend(more) || !scale(function, more)) return false;
    const Wide coefficient = quotient(function.steps[View::at(q)], stride);
    all.coefficients[View::at(q)] = coefficient;
    if (coefficient == 0) continue;
    const Function start = view.function(view.layout.start(q));
    if (!add_product(function.constant, -coefficient, start.constant)) return false;
    for (int p = view.level; p < q; ++p)
      if (!add_product(function.steps[View::at(p)], -coefficient, start.steps[View::at(p)])) return false;
  }
  all.constant = function.constant;
  return all.reduced(into, divisor);
}

/// The range of coordinate q; false if numbers do not fit.
bool range_of(const View& view, int q, Range& into) {
  std::int64_t under_lower = 1;
  std::int64_t under_upper = 1;
  into.stride = view.stride(q);
  return in_coordinates(view, view.function(view.layout.start(q)), into.lower, under_lower) &&
         in_coordinates(view, view.last_coordinate(q), into.upper, under_upper) &&
         set_divisor(into, under_lower, under_upper);
}

bool representable(const View& view) {
  if (plainly_representable(view)) return true;
  Affine ignored;
  std::int64_t divisor = 1;
  for (int o = 0; o < view.layout.outputs; ++o)
    if (!in_coordinates(view, view.function(o), ignored, divisor)) return false;
  Range range;
  for (int q = view.level; q < view.layout.dimensions; ++q)
    if (!range_of(view, q, range)) return false;
  return true;
}

std::uint64_t count_points(const View& view, std::int64_t rows) {
  FewNumbers<std::int64_t, kMostDimensions> extents;
  extents.assign_zeros(View::at(view.layout.dimensions));
  for (int d = view.level; d < view.layout.dimensions; ++d) extents[View::at(d)] = view.extent(d);
  extents[View::at(view.level)] = rows - 1;
  return count_inside(view, view.level, extents);
}

void forget_degenerate(const Layout& layout, Block& block, int level) {
  for (int q = level; q < layout.dimensions; ++q) {
    if (!block.knows(q)) continue;
    const View view{layout, block, level};
    if (largest_extent(view, q) > 0) continue;
    block.known &= ~(std::uint32_t{1} << q);
    std::fill_n(block.words.get() + layout.part(q), 1 + layout.functions(q), 0);
  }
}

Block row_of(const View& view, std::int64_t t) {
  const Layout& layout = view.layout;
  Block row = copy_of(layout, view.block, view.level);
  row.closed = false;
  std::int64_t* values = values_of(layout, row, view.level);
  for (int f = 0; f < layout.functions(view.level); ++f) values[f] = view.at_row(f, t);
  values[layout.start(view.level)] =
      static_cast<std::int64_t>(view.start(view.level) + static_cast<Wide>(view.stride(view.level)) * t);
  values[layout.extent(view.level)] = 0;
  forget_degenerate(layout, row, view.level);
  row.points = count_points({layout, row, view.level}, 1);
  return row;
}

Piece piece_of(const View& view, std::size_t outputs) {
  const Layout& layout = view.layout;
  if (is_point(view)) return point_of(view, outputs);
  Piece piece;
  piece.points = view.block.points;
  piece.ranges.reserve(View::at(layout.dimensions));
  for (int q = 0; q < layout.dimensions; ++q) {
    Range& range = piece.ranges.emplace_back();
    if (constant_range_of(view, q, range)) continue;
    if (!range_of(view, q, range)) {
      piece.exact_domain = false;
      range = {};
      std::int64_t ignored = 0;
      extremes(view, view.function(layout.start(q)), range.lower.constant, ignored);
      extremes(view, view.last_coordinate(q), ignored, range.upper.constant);
    }
    range.lower.coefficients.resize(View::at(q));
    range.upper.coefficients.resize(View::at(q));
  }
  piece.outputs.resize(outputs);
  for (int o = 0; o < layout.outputs; ++o) {
    Output& output = piece.outputs[layout.select[View::at(o)]];
    output.top.assign(View::at(layout.dimensions), false);
    if (!in_coordinates(view, view.function(o), output.value, output.divisor)) {
      output.value = {0, std::vector<std::int64_t>(View::at(layout.dimensions))};
      for (int q = 0; q < layout.dimensions; ++q) output.top[View::at(q)] = view.block.knows(q);
    }
    const Window window = window_of(view, o);
    if (window.modulus != 0 && output.affine()) {
      output.modulus = window.modulus;
      output.base = window.low;
    }
    output.minimum = window.low;
    output.maximum = window.high;
    output.distance_minimum = window.distance_low;
    output.distance_maximum = window.distance_high;
  }
  return piece;
}

bool is_behind(const Layout& layout, const Block& block, int level, std::int64_t last) {
  const View view{layout, block, level};
  const std::int64_t stride = block.words[View::at(layout.part(level))];
  const std::int64_t extent = view.extent(level);
  const Wide at = view.start(level) + static_cast<Wide>(stride) * extent;
  if (at >= last) return false;
  return (!block.knows(level) && !block.before) || at + stride <= last;
}

std::size_t bytes_of(const Layout& layout, const Block& block, int level) {
  std::size_t bytes = sizeof(Block) + sizeof(std::int64_t) * View::at(layout.words(level));
  if (block.windows) bytes += sizeof(*block.windows) + sizeof(Window) * block.windows->size();
  if (block.before) bytes += bytes_of(layout, *block.before, level);
  return bytes;
}

}  // namespace loopfold::fold::adaptive
