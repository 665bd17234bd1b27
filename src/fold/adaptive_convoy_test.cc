// Convoys against folding every row: random streams on several lattices, as scalar loads of what vector stores wrote
// have them, with gaps, labels that are wrong, rows that change their lengths, and first rows that are unlike the
// others. Blocks, blame, memory and pieces must be the same after every row, whether points come one by one, in runs or
// several at a time. Cruising (adaptive_cruise.h) the same way.
#include "fold/adaptive_convoy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "fold/adaptive_exact.h"
#include "fold/stream_for_tests.h"

namespace loopfold::fold::adaptive {
namespace {

using point_lists::Vector;

class Lattices : public point_lists::Choices {
 public:
  using Choices::Choices;

  /// `large`: now and then, numbers nearly do not fit.
  point_lists::Stream make(bool large) {
    const auto dimensions = static_cast<std::uint16_t>(between(2, 5));
    const auto outputs = static_cast<std::uint16_t>(below(3));
    stream_.shape = {dimensions, outputs, static_cast<std::uint16_t>(below(std::min(dimensions, outputs) + 1u))};
    for (std::uint16_t k = 0; k < dimensions; ++k) {
      first_.push_back(one_in(3) ? between(-3, 3) : 0);
      length_.push_back(between(2, dimensions > 3 ? 6 : 12));
      slope_.push_back(one_in(8) ? between(-1, 1) : 0);
    }
    for (std::uint64_t i = 1 + below(2); i > 0; --i) guards_.push_back(guard());
    for (std::uint16_t o = 0; o < outputs; ++o) labels_.push_back(label());
    for (std::uint64_t i = below(3); i > 0; --i) borders_.push_back(border());
    scale_ = large && one_in(12) ? std::int64_t{1} << between(20, 52) : 1;
    noise_ = one_in(3) ? 20 + below(400) : 0;
    gaps_ = one_in(3) ? 20 + below(400) : 0;
    Vector point;
    walk(point);
    return std::move(stream_);
  }

 private:
  /// Points whose sum with these coefficients is one of the remainders.
  struct Guard {
    Vector coefficients;
    std::vector<bool> remainders;
  };
  /// A sum, divided and rounded down.
  struct Label {
    Vector coefficients;
    std::int64_t divisor = 1;
  };

  /// The first rows of a dimension: something is added to a label, or they are longer or shorter.
  struct Border {
    std::size_t dimension = 0;
    std::int64_t rows = 1;
    std::size_t label = 0;
    std::int64_t more = 0;
    std::int64_t longer = 0;
  };
  Border border() {
    Border made;
    made.dimension = below(first_.size());
    made.rows = between(1, 4);
    made.label = below(4);
    made.more = one_in(2) ? 0 : between(-9, 9);
    made.longer = one_in(2) ? 0 : between(-3, 3);
    return made;
  }
  bool is_in(const Border& border, const Vector& point) const {
    return border.dimension < point.size() && point[border.dimension] < first_[border.dimension] + border.rows;
  }

  Guard guard() {
    Guard made;
    for (std::size_t k = 0; k < first_.size(); ++k) made.coefficients.push_back(one_in(2) ? 0 : between(0, 3));
    for (std::uint64_t m = 2 + below(4); m > 0; --m) made.remainders.push_back(one_in(2));
    made.remainders[below(made.remainders.size())] = true;
    return made;
  }
  Label label() {
    Label made;
    for (std::size_t k = 0; k < first_.size(); ++k) made.coefficients.push_back(one_in(3) ? 0 : between(-2, 6));
    made.divisor = one_in(2) ? 1 : between(2, 4);
    return made;
  }
  static std::int64_t sum(const Vector& coefficients, const Vector& point) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < point.size(); ++k) sum += coefficients[k] * point[k];
    return sum;
  }
  static std::int64_t remainder(std::int64_t value, std::int64_t by) { return (value % by + by) % by; }

  void walk(Vector& point) {
    const std::size_t k = point.size();
    if (stream_.points.size() > 5000) return;
    if (k == first_.size()) return add(point);
    std::int64_t length = std::clamp<std::int64_t>(length_[k] + (k > 0 ? slope_[k] * point[k - 1] : 0), 0, 14);
    for (const Border& border : borders_)
      if (k == first_.size() - 1 && is_in(border, point)) length += border.longer;
    for (std::int64_t t = 0; t < length; ++t) {
      point.push_back(first_[k] + t);
      walk(point);
      point.pop_back();
    }
  }
  void add(const Vector& point) {
    for (const Guard& guard : guards_) {
      const auto size = static_cast<std::int64_t>(guard.remainders.size());
      if (!guard.remainders[static_cast<std::size_t>(remainder(sum(guard.coefficients, point), size))]) return;
    }
    if (gaps_ != 0 && one_in(gaps_)) return;
    Vector labels;
    for (const Label& label : labels_) {
      const std::int64_t value = sum(label.coefficients, point);
      labels.push_back((value - remainder(value, label.divisor)) / label.divisor * scale_);
      for (const Border& border : borders_)
        if (border.label == labels.size() - 1 && is_in(border, point)) labels.back() += border.more;
      if (noise_ != 0 && one_in(noise_)) labels.back() += between(-3, 3);
    }
    stream_.add(point, labels);
  }

  point_lists::Stream stream_;
  Vector first_, length_, slope_;
  std::vector<Guard> guards_;
  std::vector<Label> labels_;
  std::vector<Border> borders_;
  std::int64_t scale_ = 1;
  std::uint64_t noise_ = 0;
  std::uint64_t gaps_ = 0;
};

/// From this point on, as many as can be one run.
std::size_t run_at(const point_lists::Stream& stream, std::size_t first, Vector& steps, std::int64_t& stride) {
  const auto differences = [&](std::size_t i) {
    Vector all;
    for (std::size_t o = 0; o < steps.size(); ++o) all.push_back(stream.labels[i + 1][o] - stream.labels[i][o]);
    all.push_back(stream.points[i + 1].back() - stream.points[i].back());
    return all;
  };
  const auto in_row = [&](std::size_t i) {
    return i < stream.points.size() &&
           std::equal(stream.points[first].begin(), stream.points[first].end() - 1, stream.points[i].begin());
  };
  std::size_t n = 1;
  if (!in_row(first + 1)) return n;
  Vector all = differences(first);
  while (in_row(first + n) && differences(first + n - 1) == all) ++n;
  stride = all.back();
  all.pop_back();
  steps = all;
  return n;
}

bool add_run(Exact& exact, Shape shape, const Run& run) {
  if (exact.expected_whole(run, shape.dimensions, shape.outputs)) return true;
  bool room = true;
  add_in_parts(
      shape, run, 0,
      [&](const std::int64_t* point, const std::int64_t* labels) { room = exact.add(point, labels) && room; },
      [&](const Run& rest) { return exact.expected_run(rest); });
  return room;
}

/// Adds points up to `end`, several at a time where they were expected; says how many these were.
std::uint64_t add_several(Exact& exact, const point_lists::Stream& stream, std::size_t from, std::size_t end,
                          bool selected) {
  const std::size_t outputs = stream.shape.outputs;
  const std::size_t between = outputs + (selected ? 3 : 0);  // numbers of no use, if they are selected
  Vector points, labels;
  std::vector<std::uint16_t> select;
  for (std::size_t o = 0; o < outputs; ++o) select.push_back(static_cast<std::uint16_t>(between - 1 - o));
  for (std::size_t i = from; i < end; ++i) {
    points.insert(points.end(), stream.points[i].begin(), stream.points[i].end());
    labels.resize(labels.size() + between);
    for (std::size_t o = 0; o < outputs; ++o)
      (labels.end() - static_cast<std::ptrdiff_t>(between))[selected ? select[o] : static_cast<std::uint16_t>(o)] =
          stream.labels[i][o];
  }
  std::uint64_t at_once = 0;
  for (std::size_t i = from; i < end; ++i) {
    const NextPoints next{points.data() + (i - from) * stream.shape.dimensions, labels.data() + (i - from) * between,
                          end - i, between, selected ? select.data() : nullptr};
    const std::size_t taken = exact.expected_points(next, stream.shape.dimensions, stream.shape.outputs);
    at_once += taken;
    i += taken;
    if (i < end) exact.add(stream.points[i].data(), stream.labels[i].data());
  }
  return at_once;
}

/// One stream, folded row by row (and without cruising, if asked for: then of small numbers, for what is predicted need
/// not be tested for its size), and as it is done.
struct Compared {
  std::uint64_t in_convoy = 0;  // how many times it was
  std::uint64_t at_once = 0;    // points
  Compared& operator+=(const Compared& other) {
    in_convoy += other.in_convoy;
    at_once += other.at_once;
    return *this;
  }
};
Compared compare(std::uint64_t seed, bool cruising) {
  Lattices random(seed);
  const point_lists::Stream stream = random.make(cruising);
  std::vector<std::uint16_t> select;
  for (std::uint16_t o = 0; o < stream.shape.outputs; ++o) select.push_back(o);
  const auto pieces = static_cast<std::uint32_t>(random.one_in(3) ? random.between(3, 16) : 16);
  Exact every(stream.shape, select, pieces);
  Exact points(stream.shape, select, pieces);
  Exact runs(stream.shape, select, pieces);
  Exact several(stream.shape, select, pieces);
  every.fold_every_row();
  if (!cruising) every.never_cruise();
  bool room = true;
  Compared result;
  std::size_t so_far = 0;  // points that `several` has
  const auto catch_up = [&](std::size_t end) {
    if (so_far < end) result.at_once += add_several(several, stream, so_far, end, random.one_in(4));
    so_far = std::max(so_far, end);
  };
  for (std::size_t first = 0; first < stream.points.size() && room;) {
    Vector steps(stream.shape.outputs);
    std::int64_t stride = 1;
    const std::size_t n = run_at(stream, first, steps, stride);
    for (std::size_t k = first; k < first + n; ++k) {
      room = every.add(stream.points[k].data(), stream.labels[k].data()) && room;
      points.add(stream.points[k].data(), stream.labels[k].data());
    }
    add_run(runs, stream.shape, {stream.points[first].data(), stream.labels[first].data(), steps.data(), n, stride});
    if (so_far == first && random.one_in(5)) {
      add_run(several, stream.shape,
              {stream.points[first].data(), stream.labels[first].data(), steps.data(), n, stride});
      so_far += n;
    }
    first += n;
    result.in_convoy += points.in_convoy() ? 1 : 0;
    if (random.one_in(4)) catch_up(first - random.below(n));
    if (!random.one_in(3)) continue;
    if (room) catch_up(first);
    EXPECT_EQ(runs.bytes(), points.bytes()) << "before point " << first;
    if (room) {
      EXPECT_EQ(several.bytes(), points.bytes()) << "before point " << first;
    }
    if (cruising) {
      EXPECT_EQ(points.bytes(), every.bytes()) << "before point " << first;
    }
  }
  if (room) every.end();
  if (room) catch_up(stream.points.size());
  std::vector<Exact*> others{&points, &runs};
  if (room) others.push_back(&several);
  for (Exact* const other : others) {
    if (room) other->end();
    EXPECT_EQ(other->full(), every.full());
    EXPECT_EQ(other->blame(), every.blame());
    EXPECT_EQ(other->max_intermediate(), every.max_intermediate());
    if (room) {
      EXPECT_EQ(other->pieces(select.size()), every.pieces(select.size()));
    }
  }
  return result;
}

TEST(Convoy, SameAsEveryRow) {
  Compared all;
  for (std::uint64_t i = 0; i < 1500 * point_lists::soak() && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(point_lists::first_seed() + i));
    all += compare(point_lists::first_seed() + i, true);
  }
  EXPECT_GT(all.in_convoy, 10000u);
  EXPECT_GT(all.at_once, 10000u);
}

TEST(Cruise, SameAsEveryRow) {
  for (std::uint64_t i = 0; i < 1500 * point_lists::soak() && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(point_lists::first_seed() + i));
    compare(point_lists::first_seed() + i, false);
  }
}

/// All rows of a box, but for those of the last plane, which are given.
point_lists::Stream box_and(const std::vector<Vector>& last) {
  point_lists::Stream stream;
  stream.shape = {3, 1, 0};
  const auto add = [&](std::int64_t i, std::int64_t j, std::int64_t k) { stream.add({i, j, k}, {j + k}); };
  for (std::int64_t i = 0; i < 6; ++i)
    for (std::int64_t j = 0; j < 4; ++j)
      for (std::int64_t k = 0; k < 4; ++k) add(i, j, k);
  for (const Vector& point : last) add(point[0], point[1], point[2]);
  return stream;
}

std::vector<Piece> pieces_of(Exact& exact) {
  exact.end();
  return exact.pieces(1);
}

/// A row that stops, and the next one that begins where it would have gone on.
TEST(Cruise, PointsOfAnotherRow) {
  for (const Vector& next : {Vector{6, 1, 2}, Vector{7, 0, 2}}) {
    const point_lists::Stream stream =
        box_and({{6, 0, 0}, {6, 0, 1}, next, {next[0], next[1], 3}, {next[0], next[1] + 1, 0}});
    Exact points(stream.shape, {0}, 16);
    Exact several(stream.shape, {0}, 16);
    for (std::size_t i = 0; i < stream.points.size(); ++i) points.add(stream.points[i].data(), stream.labels[i].data());
    EXPECT_GT(add_several(several, stream, 0, stream.points.size(), false), 16u);
    EXPECT_EQ(pieces_of(several), pieces_of(points));
  }
}

/// Rows that were predicted when points came, which are done when runs come.
TEST(Cruise, MoreRowsThanPredicted) {
  std::vector<Vector> last;
  for (std::int64_t j = 0; j < 7; ++j)
    for (std::int64_t k = 0; k < 4; ++k) last.push_back({6, j, k});
  const point_lists::Stream stream = box_and(last);
  for (std::size_t rows = 1; rows < 5; ++rows) {
    Exact points(stream.shape, {0}, 16);
    Exact several(stream.shape, {0}, 16);
    const std::size_t before = 6 * 16 + 4 * rows;
    for (std::size_t i = 0; i < stream.points.size(); ++i) points.add(stream.points[i].data(), stream.labels[i].data());
    EXPECT_GT(add_several(several, stream, 0, before, false), 16u);
    const Vector steps{1};
    for (std::size_t i = before; i < stream.points.size(); i += 4)
      add_run(several, stream.shape, {stream.points[i].data(), stream.labels[i].data(), steps.data(), 4, 1});
    EXPECT_EQ(pieces_of(several), pieces_of(points));
  }
}

}  // namespace
}  // namespace loopfold::fold::adaptive
