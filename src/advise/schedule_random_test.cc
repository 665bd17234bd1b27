// What examine() says of an order, against all pairs of instances of small random programs.
//
// A program has one to three groups in a random tree of loops, up to three deep, with three to five iterations each
// (some triangular), and random affine flow, cut to what goes forward when the nest is simply run. The reference knows
// nothing of isl: it runs the nest, keeps every pair of instances that the flow connects, and compares their times.
#include <gtest/gtest.h>
#include <isl/options.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "advise/schedule.h"
#include "advise/testing.h"
#include "structure/testing.h"

namespace loopfold::advise {
namespace {

using Fusion = profile::Transformed::Fusion;
using structure::ContextId;
using structure::kNoContext;
using structure::testing::seed;
using structure::testing::soak;
using testing::HandMade;

using Point = std::vector<std::int64_t>;
using Differences = std::vector<std::int64_t>;

constexpr const char* kNames[] = {"i", "j", "k"};
constexpr const char* kConsumerNames[] = {"x", "y", "z"};

/// constant + sum of coefficients * coordinates.
struct Linear {
  std::vector<std::int64_t> coefficients;
  std::int64_t constant = 0;

  std::int64_t at(const Point& point) const {
    return std::inner_product(coefficients.begin(), coefficients.end(), point.begin(), constant);
  }
  std::string text() const {
    std::string all = std::to_string(constant);
    for (std::size_t c = 0; c < coefficients.size(); ++c) all += fmt::format(" + {}{}", coefficients[c], kNames[c]);
    return all;
  }
};

/// Consumer coordinates that are functions of the producer's; the others may be anything.
struct RandomFlow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::vector<std::optional<Linear>> outputs;
  bool reduction = false;

  bool connects(const Point& producer, const Point& consumer) const {
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (outputs[k] && outputs[k]->at(producer) != consumer[k]) return false;
    return true;
  }
};

/// A pair of instances that the flow connects.
struct Pair {
  std::size_t dependence = 0;
  const Point* producer = nullptr;
  const Point* consumer = nullptr;
};

class RandomNest {
 public:
  explicit RandomNest(std::uint64_t number) : random_(number) {
    const std::size_t groups = 1 + pick(3);
    nest.loop(10);
    loops_.push_back({1, nest.program.roots.front()});
    for (std::size_t loops = pick(4); loops > 0; --loops) add_loop();
    while (nest.program.groups.size() < groups) pick(4) == 0 ? add_loop() : add_group();
    points_.resize(groups);
    when_.resize(groups);
    run(kNoContext, {});
    for (std::size_t tries = 3 + pick(6); tries > 0; --tries) add_flow();
  }

  /// All times of one run, in the order of the run.
  std::vector<Differences> times(const Order& order) const {
    std::vector<Differences> all(instances_);
    for (std::uint32_t g = 0; g < points_.size(); ++g)
      for (std::size_t p = 0; p < points_[g].size(); ++p) all[when_[g][p]] = time(order, g, points_[g][p]);
    return all;
  }

  static Differences time(const Order& order, std::uint32_t group, const Point& point) {
    Differences time;
    for (const Row& row : order.rows[group]) time.push_back(Linear{row.coefficients, row.constant}.at(point));
    return time;
  }

  std::size_t pick(std::size_t below) { return random_() % below; }

  HandMade nest;
  std::vector<RandomFlow> flows;
  std::vector<Pair> pairs;

 private:
  struct Loop {
    std::size_t depth = 0;
    ContextId id = kNoContext;
  };

  /// Later loops, which are deeper, are chosen more often.
  const Loop& any_loop() { return loops_[std::max(pick(loops_.size()), pick(loops_.size()))]; }

  void add_loop() {
    const Loop in = any_loop();
    if (in.depth < 3) loops_.push_back({in.depth + 1, nest.loop(11, in.id)});
  }

  /// With bounds of its own.
  void add_group() {
    const Loop in = any_loop();
    std::vector<Linear> bounds;  // coordinates are less
    std::string text = "true";
    for (std::size_t k = 0; k < in.depth; ++k) {
      Linear bound{Point(in.depth), static_cast<std::int64_t>(3 + pick(in.depth == 3 ? 2 : 3))};
      if (k > 0 && pick(4) == 0) bound.coefficients[pick(k)] = pick(2) == 0 ? 1 : -1;
      text += fmt::format(" and 0 <= {} < {}", kNames[k], bound.text());
      bounds.push_back(bound);
    }
    nest.group(in.id, text);
    bounds_.push_back(std::move(bounds));
  }

  /// Runs the body of a loop as it stands there.
  void run(ContextId loop, const Point& at) {
    constexpr std::int64_t kBeyond = 12;
    for (const poly::Program::Child& child : nest.program.body(loop)) {
      if (child.loop == kNoContext) {
        visit(child.group, at);
        continue;
      }
      Point inside = at;
      inside.push_back(0);
      for (; inside.back() < kBeyond; ++inside.back()) run(child.loop, inside);
    }
  }

  void visit(std::uint32_t group, const Point& at) {
    for (std::size_t k = 0; k < at.size(); ++k)
      if (at[k] >= bounds_[group][k].at(at)) return;
    points_[group].push_back(at);
    when_[group].push_back(instances_++);
  }

  void add_flow() {
    RandomFlow flow;
    flow.from = static_cast<std::uint32_t>(pick(points_.size()));
    flow.to = static_cast<std::uint32_t>(pick(points_.size()));
    flow.reduction = pick(4) == 0;
    const std::size_t inputs = nest.program.groups[flow.from].loops.size();
    const std::size_t outputs = nest.program.groups[flow.to].loops.size();
    for (std::size_t k = 0; k < outputs; ++k) flow.outputs.push_back(output(inputs, k));
    const std::size_t number = nest.program.dependences.size();
    for (std::size_t p = 0; p < points_[flow.from].size(); ++p)
      for (std::size_t c = 0; c < points_[flow.to].size(); ++c)
        if (when_[flow.from][p] < when_[flow.to][c] && flow.connects(points_[flow.from][p], points_[flow.to][c]))
          pairs.push_back({number, &points_[flow.from][p], &points_[flow.to][c]});
    if (pairs.empty() || pairs.back().dependence != number) return;
    nest.add(flow.from, flow.to, map_of(flow), flow.reduction);
    flows.push_back(std::move(flow));
  }

  std::optional<Linear> output(std::size_t inputs, std::size_t k) {
    if (pick(8) == 0) return std::nullopt;
    Linear linear{Point(inputs), static_cast<std::int64_t>(pick(4)) - 1};
    const bool same = pick(4) != 0;
    if (same && k < inputs) linear.coefficients[k] = 1;
    if (pick(3) == 0) linear.coefficients[pick(inputs)] += pick(2) == 0 ? -1 : 1;
    return linear;
  }

  /// The text of the flow, one part for each row of the order as written that may be the first to differ.
  poly::Isl<isl_map> map_of(const RandomFlow& flow) const {
    const Order written = original_order(nest.program);
    std::string condition = "true";
    for (std::size_t k = 0; k < flow.outputs.size(); ++k)
      if (flow.outputs[k]) condition += fmt::format(" and {} = {}", kConsumerNames[k], flow.outputs[k]->text());
    std::vector<std::string> parts;
    std::string equal = condition;
    for (std::size_t row = 0; row < written.length(); ++row) {
      const std::string producer = row_text(written.rows[flow.from][row], kNames);
      const std::string consumer = row_text(written.rows[flow.to][row], kConsumerNames);
      parts.push_back(fmt::format("({} and {} < {})", equal, producer, consumer));
      equal += fmt::format(" and {} = {}", producer, consumer);
    }
    const poly::Group& from = nest.program.groups[flow.from];
    const poly::Group& to = nest.program.groups[flow.to];
    const std::string text = fmt::format(
        "{{ {}[{}] -> {}[{}] : {} }}", from.name, fmt::join(kNames, kNames + from.loops.size(), ", "), to.name,
        fmt::join(kConsumerNames, kConsumerNames + to.loops.size(), ", "), fmt::join(parts, " or "));
    poly::Isl<isl_map> map(isl_map_read_from_str(nest.isl.get(), text.c_str()));
    EXPECT_TRUE(map) << text;
    map = poly::Isl<isl_map>(isl_map_intersect_domain(map.release(), from.domain.copy()));
    return poly::Isl<isl_map>(isl_map_intersect_range(map.release(), to.domain.copy()));
  }

  static std::string row_text(const Row& row, const char* const* names) {
    std::string text = std::to_string(row.constant);
    for (std::size_t c = 0; c < row.coefficients.size(); ++c)
      text += fmt::format(" + {}{}", row.coefficients[c], names[c]);
    return text;
  }

  std::mt19937_64 random_;
  std::vector<Loop> loops_;
  std::vector<std::vector<Linear>> bounds_;     // by group
  std::vector<std::vector<Point>> points_;      // by group: its instances
  std::vector<std::vector<std::size_t>> when_;  // their numbers in the run
  std::size_t instances_ = 0;
};

/// What examine() should say, from all pairs.
struct Truth {
  bool legal = true;
  std::optional<std::size_t> violated;
  std::vector<bool> permutable;  // by band
  std::vector<std::vector<Carries>> carries;
  std::vector<std::vector<Carries>> alone;
};

Truth truth_of(const RandomNest& random, const Order& order) {
  Truth truth;
  for (const OrderBand& band : order.bands) {
    truth.permutable.push_back(true);
    truth.carries.emplace_back(band.depth, Carries::kNothing);
    truth.alone.emplace_back(band.depth, Carries::kNothing);
  }
  const auto has = [](const OrderBand& band, std::uint32_t group) {
    return std::find(band.groups.begin(), band.groups.end(), group) != band.groups.end();
  };
  for (const Pair& pair : random.pairs) {
    const RandomFlow& flow = random.flows[pair.dependence];
    const Carries what = flow.reduction ? Carries::kReduction : Carries::kFlow;
    Differences difference = RandomNest::time(order, flow.to, *pair.consumer);
    const Differences producer = RandomNest::time(order, flow.from, *pair.producer);
    for (std::size_t k = 0; k < difference.size(); ++k) difference[k] -= producer[k];
    if (difference <= Differences(difference.size())) {
      truth.legal = false;
      truth.violated = std::min(truth.violated.value_or(pair.dependence), pair.dependence);
    }
    for (std::size_t b = 0; b < order.bands.size(); ++b) {
      const OrderBand& band = order.bands[b];
      const auto first = difference.begin() + band.first;
      if (!has(band, flow.from) || !has(band, flow.to)) continue;
      if (std::any_of(difference.begin(), first, [](std::int64_t d) { return d != 0; })) continue;
      bool equal = true;
      for (std::uint32_t k = 0; k < band.depth; ++k) {
        if (first[k] < 0) truth.permutable[b] = false;
        if (first[k] != 0) truth.alone[b][k] = std::max(truth.alone[b][k], what);
        if (first[k] != 0 && equal) truth.carries[b][k] = std::max(truth.carries[b][k], what);
        equal = equal && first[k] == 0;
      }
    }
  }
  return truth;
}

void expect_true(const RandomNest& random, const Order& order, const char* which) {
  SCOPED_TRACE(which);
  const Truth truth = truth_of(random, order);
  EXPECT_EQ(order.legal, truth.legal);
  EXPECT_EQ(order.violated, truth.violated);
  for (std::size_t b = 0; b < order.bands.size(); ++b) {
    EXPECT_EQ(order.bands[b].permutable, truth.permutable[b]) << "band " << b;
    EXPECT_EQ(order.bands[b].carries, truth.carries[b]) << "band " << b;
    EXPECT_EQ(order.bands[b].alone, truth.alone[b]) << "band " << b;
  }
}

/// Rows and bands of an order changed at random: mostly illegal.
Order mutated(RandomNest& random, Order order) {
  if (order.length() == 0) return order;
  for (std::size_t changes = 1 + random.pick(2); changes > 0; --changes) {
    std::vector<Row>& rows = order.rows[random.pick(order.rows.size())];
    Row& row = rows[random.pick(rows.size())];
    switch (random.pick(4)) {
      case 0:
        std::swap(row, rows[random.pick(rows.size())]);
        break;
      case 1:
        row.constant += static_cast<std::int64_t>(random.pick(5)) - 2;
        break;
      case 2:
        for (std::int64_t& coefficient : row.coefficients) coefficient = -coefficient;
        break;
      default:
        row.coefficients[random.pick(row.coefficients.size())] += random.pick(2) == 0 ? 1 : -1;
        break;
    }
  }
  return order;
}

/// Bands that follow each other, for the same groups, as one.
Order joined(Order order) {
  for (std::size_t b = 0; b + 1 < order.bands.size(); ++b)
    for (std::size_t c = b + 1; c < order.bands.size(); ++c) {
      OrderBand& outer = order.bands[b];
      const OrderBand& inner = order.bands[c];
      if (outer.first + outer.depth != inner.first || outer.groups != inner.groups) continue;
      outer.depth += inner.depth;
      order.bands.erase(order.bands.begin() + static_cast<std::ptrdiff_t>(c));
      c = b;
    }
  return order;
}

/// What permute() says must be what examine() finds.
void expect_permutable(RandomNest& random, const Order& order) {
  for (std::size_t b = 0; b < order.bands.size(); ++b) {
    if (!order.bands[b].permutable || order.bands[b].depth < 2) continue;
    std::vector<std::uint32_t> places(order.bands[b].depth);
    std::iota(places.begin(), places.end(), 0u);
    while (std::next_permutation(places.begin(), places.end())) {
      Order other = order;
      permute(other, b, places);
      expect_true(random, other, "permuted");
      EXPECT_TRUE(other.legal);
      for (std::uint32_t k = 0; k < places.size(); ++k)
        for (const std::uint32_t group : order.bands[b].groups)
          EXPECT_EQ(other.rows[group][order.bands[b].first + k], order.rows[group][order.bands[b].first + places[k]]);
    }
  }
}

TEST(ScheduleRandom, ExamineSaysWhatAllPairsSay) {
  std::size_t pairs = 0;
  std::size_t found_orders = 0;
  std::size_t illegal = 0;
  std::size_t bands = 0;
  const std::uint64_t programs = 250 * soak();
  for (std::uint64_t n = 0; n < programs && !::testing::Test::HasFailure(); ++n) {
    SCOPED_TRACE(fmt::format("program {}", seed(n)));
    RandomNest random(seed(n));
    isl_options_set_on_error(random.nest.isl.get(), ISL_ON_ERROR_CONTINUE);
    pairs += random.pairs.size();
    const Order written = random.nest.written();
    const std::vector<Differences> times = random.times(written);
    ASSERT_TRUE(std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) == times.end())
        << "the order as written is not that of the run";
    ASSERT_TRUE(written.legal);
    expect_true(random, written, "as written");
    std::vector<Order> orders{written, random.nest.examined(joined(written))};
    expect_true(random, orders.back(), "as written, in one band");
    for (const Fusion fusion : {Fusion::kMax, Fusion::kSmart, Fusion::kNone}) {
      const Order found = random.nest.found(fusion, n % 2 == 0);
      if (found.rows.empty()) continue;
      ++found_orders;
      expect_true(random, found, "found");
      EXPECT_TRUE(found.legal) << "what is legal for more dependences is legal for these";
      orders.push_back(found);
    }
    for (const Order& order : orders) {
      expect_permutable(random, order);
      bands += static_cast<std::size_t>(std::count_if(order.bands.begin(), order.bands.end(),
                                                      [](const OrderBand& b) { return b.permutable && b.depth >= 2; }));
      const Order other = random.nest.examined(mutated(random, order));
      expect_true(random, other, "mutated");
      illegal += other.legal ? 0 : 1;
    }
  }
  EXPECT_GT(pairs, 50 * programs);
  EXPECT_GT(found_orders, programs);
  EXPECT_GT(bands, programs);
  EXPECT_GT(illegal, programs / 2);
}

}  // namespace
}  // namespace loopfold::advise
