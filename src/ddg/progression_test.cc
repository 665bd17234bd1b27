// Values along a run against their evaluation, iteration by iteration.
#include "ddg/progression.h"

#include <gtest/gtest.h>

#include <random>

#include "trace/reader.h"

namespace loopfold::ddg {
namespace {

using trace::Expression;
using trace::Value;
using Extend = Expression::Extend;

/// A run of one path whose slots are these columns.
class Columns {
 public:
  explicit Columns(std::vector<trace::RunColumn> columns, std::uint64_t iterations) : columns_(std::move(columns)) {
    for (std::uint32_t i = 0; i < columns_.size(); ++i) numbers_.push_back(i);
    path_.exits = exits_;
    path_.columns = numbers_;
    path_.slots = numbers_.size();
    run_.iterations = iterations;
    run_.paths = {&path_, 1};
    run_.columns = columns_;
  }
  Columns(const Columns&) = delete;

  trace::RunExpander begin() const {
    trace::RunExpander expander;
    expander.begin(run_);
    return expander;
  }

 private:
  std::vector<trace::RunColumn> columns_;
  std::vector<std::uint32_t> numbers_;
  std::vector<trace::ExitId> exits_{0};
  trace::RunPath path_;
  trace::Run run_;
};

trace::RunColumn regular(std::uint64_t start, std::uint64_t stride) {
  trace::RunColumn column;
  column.start = start;
  column.stride = stride;
  return column;
}

trace::Block block_with(Expression expression) {
  trace::Block block;
  block.expressions.push_back(std::move(expression));
  return block;
}

Progression of(std::uint64_t start, std::uint64_t stride, Extend extend, std::uint64_t n) {
  const Columns columns({regular(start, stride)}, 1000);
  Expression expression;
  expression.terms = {{Value::slot(0), 1}};
  expression.extend = extend;
  return progression_of(block_with(expression), Value::expression(0), columns.begin(), 0, n);
}

struct Width {
  Extend zero;
  Extend sign;
  unsigned bits;
};
constexpr Width kWidths[] = {{Extend::kZero8, Extend::kSign8, 8},
                             {Extend::kZero16, Extend::kSign16, 16},
                             {Extend::kZero32, Extend::kSign32, 32}};

/// Up to the last number that fits, in both directions, and not one more.
TEST(Progression, WrapsAroundAtEachWidth) {
  for (const Width& width : kWidths) {
    SCOPED_TRACE(width.bits);
    const std::uint64_t all = (std::uint64_t{1} << width.bits) - 1;
    const std::uint64_t top = std::uint64_t{1} << (width.bits - 1);
    const std::uint64_t down = 0 - std::uint64_t{1};
    EXPECT_TRUE(of(all - 9, 1, width.zero, 10).even);
    EXPECT_FALSE(of(all - 9, 1, width.zero, 11).even);
    EXPECT_TRUE(of(9, down, width.zero, 10).even);
    EXPECT_FALSE(of(9, down, width.zero, 11).even);
    EXPECT_TRUE(of(top - 10, 1, width.sign, 10).even);
    EXPECT_FALSE(of(top - 10, 1, width.sign, 11).even);
    EXPECT_TRUE(of(0 - top + 9, down, width.sign, 10).even);
    EXPECT_FALSE(of(0 - top + 9, down, width.sign, 11).even);
    EXPECT_EQ(of(9, down, width.zero, 10).at(9), 0u);
    EXPECT_EQ(of(0 - top + 9, down, width.sign, 10).at(9), 0 - top);
  }
}

/// Only the low bits count: of the start and of the step.
TEST(Progression, HighBitsAreLost) {
  const Progression down = of(0x1234500, 0xffff, Extend::kZero8, 1);
  EXPECT_EQ(down.start, 0u);
  EXPECT_EQ(down.step, 0 - std::uint64_t{1}) << "a step of 255 in 8 bits is one back";
  const Progression still = of(0x1234507, 0x100, Extend::kZero8, 1000);
  EXPECT_TRUE(still.even);
  EXPECT_EQ(still.at(999), 7u);
}

TEST(Progression, OfSignedNumbers) {
  EXPECT_EQ(sign_extended(0x1ff, 1), -1);
  EXPECT_EQ(sign_extended(0x18000, 2), -32768);
  EXPECT_EQ(sign_extended(0x80000000, 4), -2147483648LL);
  EXPECT_EQ(sign_extended(~std::uint64_t{0}, 8), -1);
  for (const unsigned bytes : {1u, 2u, 4u}) {
    const std::uint64_t top = std::uint64_t{1} << (bytes * 8 - 1);
    EXPECT_TRUE(sign_extended(Progression{top - 5, 1, true}, bytes, 5).even);
    EXPECT_FALSE(sign_extended(Progression{top - 5, 1, true}, bytes, 6).even);
    EXPECT_EQ(sign_extended(Progression{top, 1, true}, bytes, 5).start, 0 - top);
  }
  const Progression whole{~std::uint64_t{0} - 2, 1, true};
  EXPECT_TRUE(sign_extended(whole, 8, 100).even) << "64 bits wrap around in the labels too";
  EXPECT_FALSE(sign_extended(Progression{0, 0, false}, 8, 1).even);
}

TEST(Progression, ConstantsAndSumsWithoutSlots) {
  const Columns columns({}, 10);
  EXPECT_EQ(progression_of({}, Value::constant(7), columns.begin(), 0, 5).at(4), 7u);
  Expression expression;
  expression.constant = 0x1ff;
  expression.extend = Extend::kSign8;
  const Progression value = progression_of(block_with(expression), Value::expression(0), columns.begin(), 0, 5);
  EXPECT_TRUE(value.even);
  EXPECT_EQ(value.at(3), ~std::uint64_t{0});
}

/// A run through two entries of a loop.
TEST(Progression, ListsThatAreEvenInParts) {
  std::vector<std::uint64_t> values;
  for (std::uint64_t k = 0; k < 20; ++k) values.push_back(k < 10 ? 100 + 8 * k : 900 + 8 * k);
  trace::RunColumn column;
  column.kind = trace::RunColumn::Kind::kIrregular;
  column.values = values;
  const Columns columns({column}, 20);
  trace::RunExpander expander = columns.begin();
  const auto next = [&](std::uint64_t n) { return progression_of({}, Value::slot(0), expander, 0, n); };
  EXPECT_TRUE(next(10).even);
  EXPECT_EQ(next(10).at(9), 172u);
  EXPECT_FALSE(next(11).even);
  for (int k = 0; k < 10; ++k) expander.next();
  EXPECT_TRUE(next(9).even);
  EXPECT_EQ(next(9).start, 980u);
}

class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : random_(seed) {}

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  /// Small numbers, and those around the places where numbers wrap around.
  std::uint64_t number() {
    constexpr unsigned kBits[] = {7, 8, 15, 16, 31, 32, 63};
    const std::uint64_t near = pick(40) - 20;
    const std::uint64_t corner = pick(2) == 0 ? 0 : std::uint64_t{1} << kBits[pick(7)];
    return pick(20) == 0 ? random_() : corner + near;
  }

  std::vector<trace::RunColumn> columns(std::size_t count, std::uint64_t iterations) {
    std::vector<trace::RunColumn> made;
    for (std::size_t i = 0; i < count; ++i) {
      made.push_back(regular(number(), number()));
      if (pick(6) != 0) continue;
      std::vector<std::uint64_t>& values = values_.emplace_back();
      const std::uint64_t step = number();  // in parts that are even
      for (std::uint64_t k = 0; k < iterations; ++k)
        values.push_back(k == 0 || pick(8) == 0 ? number() : values.back() + step);
      made.back().kind = trace::RunColumn::Kind::kIrregular;
    }
    for (std::size_t i = 0, next = 0; i < count; ++i)
      if (made[i].kind == trace::RunColumn::Kind::kIrregular) made[i].values = values_[next++];
    return made;
  }

  trace::Block block(std::uint32_t slots) {
    trace::Block block;
    for (std::uint32_t i = 0; i < 4; ++i) {
      Expression expression;
      for (std::uint64_t terms = pick(4); terms > 0; --terms) {
        const bool nested = i > 0 && pick(3) == 0;
        expression.terms.push_back({nested ? Value::expression(static_cast<std::uint32_t>(pick(i)))
                                           : Value::slot(static_cast<std::uint32_t>(pick(slots))),
                                    pick(2) == 0 ? 1 : number()});
      }
      expression.constant = number();
      expression.extend = static_cast<Extend>(pick(7));
      block.expressions.push_back(expression);
    }
    return block;
  }

 private:
  std::mt19937_64 random_;
  std::vector<std::vector<std::uint64_t>> values_;
};

/// What is said to be even is; from any iteration on, for blocks that do not begin with the path's first slot too.
TEST(Progression, RandomValuesAsEvaluated) {
  std::uint64_t even = 0;
  std::uint64_t uneven = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    RandomValues random(seed);
    const std::uint64_t iterations = 4 + random.pick(40);
    constexpr std::uint32_t kSlots = 3;
    const std::size_t before = random.pick(3);
    const Columns columns(random.columns(before + kSlots, iterations), iterations);
    const trace::Block block = random.block(kSlots);
    trace::RunExpander expander = columns.begin();
    const std::uint64_t passed = random.pick(iterations - 2);
    for (std::uint64_t k = 0; k < passed; ++k) expander.next();
    const std::uint64_t n = 1 + random.pick(iterations - 1 - passed);
    std::vector<Progression> found;
    for (std::uint32_t i = 0; i < block.expressions.size(); ++i)
      found.push_back(progression_of(block, Value::expression(i), expander, before, n));
    for (std::uint64_t k = 0; k < n; ++k) {
      expander.next();
      for (std::uint32_t i = 0; i < found.size(); ++i) {
        if (!found[i].even) continue;
        ASSERT_EQ(found[i].at(k), trace::evaluate(block, Value::expression(i), expander.slots().subspan(before)))
            << "seed " << seed << ", expression " << i << ", iteration " << k << " of " << n;
      }
    }
    for (const Progression& progression : found) ++(progression.even ? even : uneven);
  }
  EXPECT_GT(even, 4000u);
  EXPECT_GT(uneven, 1000u);
}

}  // namespace
}  // namespace loopfold::ddg
