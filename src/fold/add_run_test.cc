// Runs against points: random streams, cut at random into runs and single points, must fold to the same as point by
// point, and hold the same memory after every cut. Streams are affine nests with triangles and several rows per
// iteration, damaged in every way that folders look at: breaks, gaps, jumps, labels modulo something, labels that wrap,
// numbers at the ends of 64 bits, points out of order, and giving up in the middle. The same for rows of points.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fold/fold.h"
#include "fold/run.h"
#include "fold/stream_for_tests.h"
#include "fold/test_points.h"

namespace loopfold::fold {
namespace {

using test_points::Labelled;
using test_points::Stream;
using test_points::text;
using test_points::Vector;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// Points of a run.
struct Cut {
  std::size_t first;
  std::size_t length;
  Vector steps;
  std::int64_t stride = 1;
};

class RandomStream : public point_lists::Choices {
 public:
  using Choices::Choices;

  /// An affine nest, with what is wrong with it.
  Stream make() {
    stream_ = {};
    const auto dimensions = static_cast<std::uint16_t>(between(1, 4));
    const auto outputs = static_cast<std::uint16_t>(between(0, 4));
    stream_.shape = {dimensions, outputs, static_cast<std::uint16_t>(below(std::min(dimensions, outputs) + 1u))};
    bounds_.assign(dimensions, {});
    for (std::size_t k = 0; k < dimensions; ++k) {
      bounds_[k].resize(2 * (k + 1));
      for (std::int64_t& c : bounds_[k]) c = one_in(4) ? between(-1, 2) : 0;
      bounds_[k][0] = extreme_start(k + 1 == dimensions);
      bounds_[k][k + 1] = between(0, k + 1 == dimensions ? 12 : 5);
    }
    longest_ = one_in(4) && dimensions < 3 ? 60 : 14;
    if (longest_ > 14) bounds_.back()[dimensions] = between(20, 50);
    stride_ = one_in(6) ? between(2, 3) : 1;
    inner_stride_ = one_in(4) ? between(2, 5) : 1;
    labels_.assign(outputs, {});
    moduli_.assign(outputs, 0);
    for (std::size_t o = 0; o < outputs; ++o) {
      const bool simple = one_in(3);
      for (std::size_t k = 0; k <= dimensions; ++k) labels_[o].push_back(simple ? 0 : coefficient());
      if (simple) labels_[o][0] = between(-2, 2);
      if (simple && one_in(2)) labels_[o][1 + o % dimensions] = 1;
      if (one_in(8)) moduli_[o] = between(2, 9);
    }
    peeled_ = one_in(5);
    noise_ = one_in(3) ? between(1, 30) : 0;
    gaps_ = one_in(4) ? between(2, 40) : 0;
    irregular_ = one_in(6) && outputs > 0;
    Vector prefix;
    walk(prefix);
    if (one_in(8)) swap_points();
    return std::move(stream_);
  }

  /// In runs that are as long as can be, or shorter.
  std::vector<Cut> cut(const Stream& stream) {
    std::vector<Cut> cuts;
    const std::uint64_t shortness = 1 + below(20);
    for (std::size_t i = 0; i < stream.points.size();) {
      Cut cut{i, 1, Vector(stream.shape.outputs, one_in(2) ? 0 : between(-3, 3)), 1};
      while (i + cut.length < stream.points.size() && !one_in(shortness) && continues(stream, cut)) ++cut.length;
      i += cut.length;
      cuts.push_back(std::move(cut));
    }
    return cuts;
  }

 private:
  std::int64_t extreme_start(bool innermost) {
    if (!one_in(10)) return between(-3, 3);
    if (!innermost) return one_in(2) ? kLeast : kMost - 40;
    return one_in(2) ? kLeast + between(0, 3) : kMost - between(0, 40);
  }

  std::int64_t coefficient() {
    if (!one_in(20)) return between(-3, 8);
    switch (below(4)) {
      case 0:
        return kLeast + between(0, 20);
      case 1:
        return kMost - between(0, 20);
      case 2:
        return kMost / between(2, 12);
      default:
        return kLeast / between(2, 12);
    }
  }

  static std::int64_t value(const Vector& function, std::size_t from, const Vector& point) {
    std::int64_t sum = function[from];
    for (std::size_t k = 0; k < point.size() && from + 1 + k < function.size(); ++k)
      sum = wrapping_add(sum, function[from + 1 + k], static_cast<std::uint64_t>(point[k]));
    return sum;
  }

  void walk(Vector& prefix) {
    const std::size_t k = prefix.size();
    if (k == bounds_.size()) {
      add(prefix);
      return;
    }
    const Vector lower(bounds_[k].begin(), bounds_[k].begin() + static_cast<std::ptrdiff_t>(k + 1));
    const Vector length(bounds_[k].begin() + static_cast<std::ptrdiff_t>(k + 1), bounds_[k].end());
    const std::int64_t from =
        k == 0 || bounds_[k][0] < -3 || bounds_[k][0] > 3 ? bounds_[k][0] : value(lower, 0, prefix);
    const std::int64_t count = std::clamp<std::int64_t>(value(length, 0, prefix), 0, longest_);
    for (std::int64_t t = 0; t <= count; ++t) {
      std::int64_t x = 0;
      if (__builtin_add_overflow(from, t * (k == 0 ? stride_ : k + 1 == bounds_.size() ? inner_stride_ : 1), &x))
        return;
      prefix.push_back(x);
      walk(prefix);
      prefix.pop_back();
    }
  }

  void add(const Vector& point) {
    if (gaps_ != 0 && one_in(static_cast<std::uint64_t>(gaps_))) return;
    Vector labels;
    for (std::size_t o = 0; o < labels_.size(); ++o) {
      std::int64_t label = value(labels_[o], 0, point);
      if (moduli_[o] != 0) label %= moduli_[o];
      if (noise_ != 0 && one_in(static_cast<std::uint64_t>(10 * noise_))) label = wrapping_add(label, between(-2, 2));
      labels.push_back(label);
    }
    if (peeled_ && !labels.empty() && point.back() == bounds_.back()[0]) labels[0] = 77;
    if (irregular_) labels.back() = between(0, 50) * (one_in(2) ? 1 : 1000);
    stream_.points.push_back({point, std::move(labels)});
  }

  void swap_points() {
    if (stream_.points.empty()) return;
    std::swap(stream_.points[below(stream_.points.size())], stream_.points[below(stream_.points.size())]);
  }

  /// Whether the run can have one point more; sets its stride and steps by the second one.
  static bool continues(const Stream& stream, Cut& cut) {
    const Labelled& last = stream.points[cut.first + cut.length - 1];
    const Labelled& next = stream.points[cut.first + cut.length];
    const std::int64_t stride = wrapping_add(next.point.back(), wrapping_add(0, last.point.back(), ~std::uint64_t{0}));
    if (!std::equal(last.point.begin(), last.point.end() - 1, next.point.begin())) return false;
    if (cut.length == 1) cut.stride = stride;
    if (cut.stride != stride) return false;
    Vector steps;
    for (std::size_t o = 0; o < last.labels.size(); ++o)
      steps.push_back(wrapping_add(next.labels[o], wrapping_add(0, last.labels[o], ~std::uint64_t{0})));
    if (cut.length == 1) cut.steps = steps;
    return cut.steps == steps;
  }

  Stream stream_;
  std::vector<Vector> bounds_;  // by dimension: functions of the first coordinate and of the length
  std::int64_t longest_ = 14;
  std::int64_t stride_ = 1;  // of the outermost dimension
  std::int64_t inner_stride_ = 1;
  std::vector<Vector> labels_;  // by output: constant, coefficients
  Vector moduli_;
  bool peeled_ = false;  // the first iteration of a row has another label
  std::int64_t noise_ = 0;
  std::int64_t gaps_ = 0;
  bool irregular_ = false;
};

void add_points(Folder& folder, const Stream& stream, const Cut& cut) {
  for (std::size_t i = cut.first; i < cut.first + cut.length; ++i)
    folder.add(stream.points[i].point.data(), stream.points[i].labels.data());
}

void add_run(Folder& folder, const Stream& stream, const Cut& cut) {
  const Labelled& first = stream.points[cut.first];
  const bool none = stream.shape.outputs == 0;
  folder.add_run({first.point.data(), none ? nullptr : first.labels.data(), none ? nullptr : cut.steps.data(),
                  cut.length, cut.stride});
}

void expect_same(const Folded& a, const Folded& b) {
  EXPECT_EQ(a.pieces, b.pieces) << text(a) << "and\n" << text(b);
  EXPECT_EQ(a.points, b.points);
  EXPECT_EQ(a.max_intermediate, b.max_intermediate);
  EXPECT_EQ(a.widened, b.widened);
  EXPECT_EQ(a.gave_up, b.gave_up);
  EXPECT_EQ(a.why, b.why);
}

/// Folds the first of the cuts both ways; if `give_up` is one of them, gives up there.
void compare(const Stream& stream, const std::vector<Cut>& cuts, std::size_t count, std::size_t give_up,
             const Options& options) {
  const std::unique_ptr<Folder> points = make_folder(options, stream.shape);
  const std::unique_ptr<Folder> runs = make_folder(options, stream.shape);
  for (std::size_t i = 0; i < count; ++i) {
    add_points(*points, stream, cuts[i]);
    add_run(*runs, stream, cuts[i]);
    if (i == give_up) {
      points->give_up("no memory");
      runs->give_up("no memory");
    }
    ASSERT_EQ(points->bytes(), runs->bytes()) << "after run " << i;
  }
  expect_same(points->finish(), runs->finish());
}

TEST(AddRun, SameAsPoints) {
  const std::uint64_t streams = 3000 * point_lists::soak();
  for (std::uint64_t seed = point_lists::first_seed(); seed < point_lists::first_seed() + streams; ++seed) {
    RandomStream random(seed);
    const Stream stream = random.make();
    const std::vector<Cut> cuts = random.cut(stream);
    const std::size_t count = random.one_in(2) ? cuts.size() : random.below(cuts.size() + 1);
    const std::size_t give_up = random.one_in(8) ? random.below(cuts.size() + 1) : cuts.size();
    const std::uint32_t pieces = random.one_in(3) ? static_cast<std::uint32_t>(random.between(1, 6)) : 16;
    for (const Variant variant : {Variant::kAuto, Variant::kF, Variant::kFW, Variant::kFGG, Variant::kFGGW})
      compare(stream, cuts, count, give_up, {.variant = variant, .max_pieces = pieces});
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      return;
    }
  }
}

/// Cuts that follow each other as ranks: how many, from this one on, and how each comes from the one before.
struct Beside {
  std::size_t cuts = 1;
  std::int64_t stride = 1;
  Vector growth;
};

std::int64_t difference(std::int64_t a, std::int64_t b) {
  return wrapping_add(a, wrapping_add(0, b, ~std::uint64_t{0}));
}

Beside beside(const Stream& stream, const std::vector<Cut>& cuts, std::size_t from, std::size_t end) {
  Beside found{1, 1, Vector(stream.shape.outputs)};
  const std::size_t along = stream.shape.dimensions - std::size_t{2};
  for (; from + found.cuts < end; ++found.cuts) {
    const Cut& a = cuts[from + found.cuts - 1];
    const Cut& b = cuts[from + found.cuts];
    if (a.length != b.length || (a.length > 1 && (a.stride != b.stride || a.steps != b.steps))) break;
    const Labelled& before = stream.points[a.first];
    const Labelled& next = stream.points[b.first];
    Beside step{1, difference(next.point[along], before.point[along]), {}};
    for (std::size_t o = 0; o < stream.shape.outputs; ++o)
      step.growth.push_back(difference(next.labels[o], before.labels[o]));
    Vector moved = before.point;
    moved[along] = next.point[along];
    if (moved != next.point || (found.cuts > 1 && (step.stride != found.stride || step.growth != found.growth))) break;
    found.stride = step.stride;
    found.growth = step.growth;
  }
  return found;
}

/// Long enough for rows to be expected; runs that are beside each other come at once.
TEST(AddRanks, SameAsPoints) {
  const std::uint64_t streams = 6000 * point_lists::soak();
  std::size_t at_once = 0;
  for (std::uint64_t seed = point_lists::first_seed(); seed < point_lists::first_seed() + streams; ++seed) {
    RandomStream random(seed);
    const Stream stream = random.make();
    if (stream.shape.dimensions < 2) continue;
    const std::vector<Cut> cuts = random.cut(stream);
    const std::size_t give_up = random.one_in(8) ? random.below(cuts.size() + 1) : cuts.size();
    const std::uint32_t pieces = random.one_in(3) ? static_cast<std::uint32_t>(random.between(1, 6)) : 16;
    for (const Variant variant : {Variant::kAuto, Variant::kFGGW}) {
      const Options options{.variant = variant, .max_pieces = pieces};
      const std::unique_ptr<Folder> points = make_folder(options, stream.shape);
      const std::unique_ptr<Folder> ranks = make_folder(options, stream.shape);
      for (std::size_t i = 0; i < cuts.size();) {
        const std::size_t most = random.one_in(3) ? i + 1 + random.below(4) : cuts.size();
        const Beside next = beside(stream, cuts, i, std::min(most, cuts.size()));
        const Labelled& first = stream.points[cuts[i].first];
        for (std::size_t k = 0; k < next.cuts; ++k) add_points(*points, stream, cuts[i + k]);
        ranks->add_ranks(
            {first.point.data(), first.labels.data(), cuts[i].steps.data(), cuts[i].length, cuts[i].stride},
            {next.cuts, next.stride, next.growth.data()});
        if (i <= give_up && give_up < i + next.cuts) {
          points->give_up("no memory");
          ranks->give_up("no memory");
        }
        at_once += next.cuts > 2 ? 1 : 0;
        i += next.cuts;
        ASSERT_EQ(points->bytes(), ranks->bytes()) << "seed " << seed << ", after run " << i;
      }
      expect_same(points->finish(), ranks->finish());
    }
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(at_once, streams / 10);
}

/// Too many to be added one by one.
TEST(AddRanks, ManyOfThem) {
  const std::unique_ptr<Folder> folder = make_folder({}, {3, 2, 0});
  constexpr std::uint64_t kLength = std::uint64_t{1} << 20;
  constexpr std::uint64_t kRanks = 1000;
  const Vector steps{0, 4};
  const Vector growth{1, 100};
  for (std::int64_t i = 0; i < 300; ++i) {
    const Vector point{i, 0, 0};
    const Vector labels{5 * i, 7};
    folder->add_ranks({point.data(), labels.data(), steps.data(), kLength, 1}, {kRanks, 1, growth.data()});
  }
  const Folded folded = folder->finish();
  ASSERT_EQ(folded.pieces.size(), 1u);
  EXPECT_TRUE(folded.exact());
  EXPECT_EQ(folded.pieces[0].points, 300 * kRanks * kLength);
  EXPECT_EQ(folded.pieces[0].outputs[0].value, (Affine{0, {5, 1, 0}}));
  EXPECT_EQ(folded.pieces[0].outputs[1].value, (Affine{7, {0, 100, 4}}));
}

/// Some of the points as rows, with as much of what is known of them as `random` tells.
void add_rows(Folder& folder, const Stream& stream, std::size_t first, std::size_t n, RandomStream& random) {
  const std::size_t dimensions = stream.shape.dimensions;
  Vector points;
  Vector labels;
  std::vector<Ends> ends(dimensions);
  Rows rows;
  rows.n = n;
  rows.ordered = true;
  rows.same = std::min<std::size_t>(dimensions, stream.shape.outputs);
  for (std::size_t i = 0; i < n; ++i) {
    const Labelled& at = stream.points[first + i];
    points.insert(points.end(), at.point.begin(), at.point.end());
    labels.insert(labels.end(), at.labels.begin(), at.labels.end());
    for (std::size_t k = 0; k < dimensions; ++k) ends[k].include(at.point[k]);
    while (rows.same > 0 &&
           !std::equal(at.labels.begin(), at.labels.begin() + static_cast<std::ptrdiff_t>(rows.same), at.point.begin()))
      --rows.same;
    if (i == 0) continue;
    const Vector& before = stream.points[first + i - 1].point;
    if (!(before < at.point)) rows.ordered = false;
    Vector next = before;
    if (__builtin_add_overflow(next.back(), 1, &next.back()) || next != at.point) continue;
    rows.follows |= std::uint64_t{1} << i;
  }
  rows.points = points.data();
  rows.labels = labels.data();
  if (!random.one_in(4)) rows.around = rows.ends = ends.data();
  std::vector<Ends> around = ends;  // of more points
  if (random.one_in(3)) {
    for (Ends& wider : around) wider.include(wider.high / 2 - random.between(0, 9));
    rows.ends = nullptr;
    rows.around = around.data();
  }
  if (random.one_in(4)) rows.ordered = false;
  if (random.one_in(4)) rows.same = 0;
  if (random.one_in(4)) rows.follows = 0;
  folder.add_rows(rows);
}

TEST(AddRows, SameAsPoints) {
  const std::uint64_t streams = 3000 * point_lists::soak();
  for (std::uint64_t seed = point_lists::first_seed(); seed < point_lists::first_seed() + streams; ++seed) {
    RandomStream random(seed);
    const Stream stream = random.make();
    const std::uint32_t pieces = random.one_in(2) ? static_cast<std::uint32_t>(random.between(1, 6)) : 16;
    for (const Variant variant : {Variant::kAuto, Variant::kFGGW}) {
      const Options options{.variant = variant, .max_pieces = pieces};
      const std::unique_ptr<Folder> points = make_folder(options, stream.shape);
      const std::unique_ptr<Folder> rows = make_folder(options, stream.shape);
      for (std::size_t first = 0; first < stream.points.size();) {
        const std::size_t n = std::min<std::size_t>(1 + random.below(64), stream.points.size() - first);
        add_points(*points, stream, {first, n, {}});
        add_rows(*rows, stream, first, n, random);
        first += n;
        ASSERT_EQ(points->bytes(), rows->bytes()) << "seed " << seed << ", after point " << first;
      }
      expect_same(points->finish(), rows->finish());
    }
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

/// A walk through a nest that goes on where chance has it, long enough for everything that is only looked at later;
/// labels that stay what they are for a while.
Stream irregular_stream(RandomStream& random) {
  Stream stream;
  const auto dimensions = static_cast<std::uint16_t>(random.between(1, 8));
  const auto outputs = static_cast<std::uint16_t>(random.between(0, 4));
  stream.shape = {dimensions, outputs, static_cast<std::uint16_t>(random.between(0, std::min(dimensions, outputs)))};
  const std::size_t length = random.one_in(8) ? 5000 : 20 + random.below(300);
  const std::uint64_t outwards = random.one_in(2) ? 3 : 40;
  std::vector<std::uint64_t> kinds;
  std::vector<std::size_t> ends;  // where the kind of a label becomes another one
  for (std::size_t o = 0; o < outputs; ++o) {
    kinds.push_back(random.below(7));
    ends.push_back(random.one_in(2) ? length : random.below(length));
  }
  Vector point(dimensions);
  const std::int64_t stride = random.one_in(4) ? 3 : 1;
  while (stream.points.size() < length) {
    std::size_t changed = dimensions - std::size_t{1};
    while (changed > 0 && random.one_in(outwards)) --changed;
    point[changed] += random.one_in(3) ? stride * random.between(1, 3) : stride;
    for (std::size_t k = changed + 1; k < dimensions; ++k)
      point[k] = random.one_in(2) ? 0 : stride * random.between(0, 4);
    Vector labels;
    for (std::size_t o = 0; o < outputs; ++o) {
      const std::int64_t along = point[std::min<std::size_t>(o, dimensions - std::size_t{1})];
      const std::uint64_t kind = (kinds[o] + (stream.points.size() < ends[o] ? 0 : 3)) % 7;
      const std::int64_t choices[] = {5,
                                      along - 2,
                                      along,
                                      3 * point.back() + 7 * point[0],
                                      random.between(0, 9),
                                      point.back() * point.back(),
                                      random.one_in(50) ? std::numeric_limits<std::int64_t>::min() : kMost - along};
      labels.push_back(choices[kind]);
    }
    stream.points.push_back({point, std::move(labels)});
  }
  return stream;
}

TEST(AddRows, SameAsPointsOfIrregularNests) {
  const std::uint64_t streams = 1500 * point_lists::soak();
  for (std::uint64_t seed = point_lists::first_seed(); seed < point_lists::first_seed() + streams; ++seed) {
    RandomStream random(seed);
    const Stream stream = irregular_stream(random);
    const Options options{.variant = Variant::kAuto, .max_pieces = random.one_in(2) ? 4u : 16u};
    const std::unique_ptr<Folder> points = make_folder(options, stream.shape);
    const std::unique_ptr<Folder> rows = make_folder(options, stream.shape);
    const std::size_t give_up = random.one_in(4) ? random.below(stream.points.size()) : stream.points.size();
    bool gave_up = false;
    for (std::size_t first = 0; first < stream.points.size();) {
      const std::size_t n = std::min<std::size_t>(1 + random.below(64), stream.points.size() - first);
      add_points(*points, stream, {first, n, {}});
      add_rows(*rows, stream, first, n, random);
      first += n;
      if (first > give_up && !std::exchange(gave_up, true)) {
        points->give_up("no memory");
        rows->give_up("no memory");
      }
      ASSERT_EQ(points->bytes(), rows->bytes()) << "seed " << seed << ", after point " << first;
    }
    expect_same(points->finish(), rows->finish());
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

/// Rows as a recorder gives them: the first iteration by itself, then a run, then the last one by itself.
TEST(AddRun, RowsInThreeParts) {
  for (const Variant variant : {Variant::kAuto, Variant::kFGGW}) {
    const std::unique_ptr<Folder> folder = make_folder({.variant = variant}, {2, 1, 0});
    for (std::int64_t j = 0; j < 50; ++j) {
      const std::int64_t step = 8;
      const std::int64_t length = 1'000'000 + j;
      for (const auto& [from, count] :
           {std::pair{std::int64_t{0}, std::int64_t{1}}, std::pair{std::int64_t{1}, length - 2},
            std::pair{length - 1, std::int64_t{1}}}) {
        const Vector point{j, from};
        const std::int64_t label = 8 * from + 5 * j;
        folder->add_run({point.data(), &label, &step, static_cast<std::uint64_t>(count), 1});
      }
    }
    const Folded folded = folder->finish();
    ASSERT_EQ(folded.pieces.size(), 1u);
    EXPECT_TRUE(folded.exact());
    EXPECT_EQ(folded.points, 50'000'000u + 49 * 50 / 2);
    EXPECT_EQ(folded.pieces[0].points, folded.points);
    EXPECT_EQ(folded.pieces[0].ranges[1].upper, (Affine{999'999, {1}}));
    EXPECT_EQ(folded.pieces[0].outputs[0].value, (Affine{0, {5, 8}}));
  }
}

/// Too long to be added point by point: only possible if time does not depend on the length.
TEST(AddRun, LongRuns) {
  const std::unique_ptr<Folder> folder = make_folder({}, {2, 2, 0});
  constexpr std::int64_t kLength = std::int64_t{1} << 40;
  for (std::int64_t j = 0; j < 100; ++j) {
    const Vector point{j, -7};
    const Vector labels{j, 0};
    const Vector steps{0, 4};
    folder->add_run({point.data(), labels.data(), steps.data(), kLength, 1});
  }
  const Folded folded = folder->finish();
  ASSERT_EQ(folded.pieces.size(), 1u);
  EXPECT_TRUE(folded.exact());
  EXPECT_EQ(folded.pieces[0].points, 100u * kLength);
  EXPECT_EQ(folded.pieces[0].outputs[1].maximum, 4 * (kLength - 1));
}

/// Every third point, in rows that grow: the same.
TEST(AddRun, LongRunsWithGaps) {
  const std::unique_ptr<Folder> folder = make_folder({}, {2, 1, 0});
  constexpr std::int64_t kLength = std::int64_t{1} << 40;
  for (std::int64_t j = 0; j < 100; ++j) {
    const Vector point{j, 2};
    const std::int64_t label = 7 * j;
    const std::int64_t step = 1;
    folder->add_run({point.data(), &label, &step, static_cast<std::uint64_t>(kLength + j), 3});
  }
  const Folded folded = folder->finish();
  ASSERT_EQ(folded.pieces.size(), 1u);
  EXPECT_TRUE(folded.exact());
  EXPECT_EQ(folded.pieces[0].points, 100u * kLength + 99 * 50);
  EXPECT_EQ(folded.pieces[0].ranges[1].stride, 3);
  EXPECT_EQ(folded.pieces[0].outputs[0].maximum, 7 * 99 + kLength + 98);
}

/// The label wraps within the run: there it breaks.
TEST(AddRun, WrappingLabels) {
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  const std::unique_ptr<Folder> folder = make_folder({}, {1, 1, 0});
  const Vector point{10};
  const Vector label{kMost - kFar};
  const Vector step{1};
  folder->add_run({point.data(), label.data(), step.data(), 2 * kFar, 1});
  const Folded folded = folder->finish();
  ASSERT_EQ(folded.pieces.size(), 2u);
  EXPECT_EQ(folded.pieces[0].points, kFar + 1u);
  EXPECT_EQ(folded.pieces[1].outputs[0].minimum, kLeast);
}

}  // namespace
}  // namespace loopfold::fold
