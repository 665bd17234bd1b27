#include "fold/label.h"

#include <gtest/gtest.h>

#include <limits>

#include "fold/row.h"

namespace loopfold::fold {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

struct Labelled {
  Polyhedron polyhedron;
  LabelFunction label;
};

/// Row `j` from coordinate `start` with these labels, widened if need be. Innermost dimension 0, two dimensions.
Labelled row(std::int64_t j, const std::vector<std::int64_t>& labels, std::int64_t start = 0) {
  Row row({2, 1, 0}, true);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::int64_t point[] = {j, start + static_cast<std::int64_t>(i)};
    if (i == 0) {
      row.start(point, &labels[0]);
    } else {
      EXPECT_EQ(row.add(point, &labels[i]), Row::Answer::kTaken);
    }
  }
  Labelled made;
  std::vector<LabelFunction> functions;
  row.finish(made.polyhedron, functions);
  made.label = functions[0];
  return made;
}

/// "-" for a coefficient that is not known, innermost first.
std::string text(const Coefficients& coefficients) {
  std::string out;
  for (std::size_t b = 0; b < 2; ++b) {
    const bool top = (coefficients.top >> b & 1) != 0;
    const bool known = (coefficients.known >> b & 1) != 0;
    out += (b > 0 ? " " : "") + (top ? "TOP" : known ? std::to_string(coefficients.value[b]) : "-");
  }
  return out;
}

std::string joined(const Labelled& f, const Labelled& g) {
  Coefficients into;
  const bool exact = join(f.label, f.polyhedron, g.label, g.polyhedron, 1, into);
  return exact ? text(into) : "incompatible";
}

std::string widened(Labelled f, const Labelled& g) {
  widen(f.label, f.polyhedron, g.label, g.polyhedron, 1);
  return text(f.label.coefficients);
}

TEST(Label, life_of_a_coefficient) {
  EXPECT_EQ(text(row(0, {67}).label.coefficients), "- -");
  EXPECT_EQ(text(row(0, {67, 71}).label.coefficients), "4 -");
  EXPECT_EQ(text(row(0, {67, 71, 75}).label.coefficients), "4 -");
  EXPECT_EQ(text(row(0, {67, 71, 77}).label.coefficients), "TOP -");
  EXPECT_EQ(text(row(0, {67, 71, 77, 81}).label.coefficients), "TOP -");
}

TEST(Label, a_merge_defines_the_coefficient) {
  EXPECT_EQ(joined(row(0, {10, 12}), row(1, {15, 17})), "2 5");
  EXPECT_EQ(joined(row(0, {10, 12}), row(1, {15, 18})), "incompatible");
  EXPECT_EQ(joined(row(0, {10}), row(1, {15})), "- 5");
}

/// Contributions of coefficients that one side does not know are taken out: the errata of the general check.
TEST(Label, one_side_knows_more) {
  EXPECT_EQ(joined(row(0, {10}, 3), row(1, {15, 17}, 3)), "2 5");
  EXPECT_EQ(joined(row(0, {10}, 3), row(1, {15, 17}, 2)), "2 7");
  EXPECT_EQ(joined(row(0, {10, 12}, 3), row(1, {15}, 4)), "2 3");
}

TEST(Label, an_extension_must_match) {
  Labelled two = row(0, {10, 12});
  const Labelled second = row(1, {15, 17});
  Polyhedron merged;
  ASSERT_TRUE(two.polyhedron.merge(second.polyhedron, 1, merged));
  ASSERT_EQ(joined(two, second), "2 5");
  ASSERT_TRUE(join(two.label, two.polyhedron, second.label, second.polyhedron, 1, two.label.coefficients));
  two.polyhedron = merged;
  EXPECT_EQ(joined(two, row(2, {20, 22})), "2 5");
  EXPECT_EQ(joined(two, row(2, {21, 23})), "incompatible");
  EXPECT_EQ(widened(two, row(2, {21, 23})), "2 TOP");
  EXPECT_EQ(widened(two, row(2, {20, 23})), "TOP TOP");
  std::int64_t constant = 0;
  ASSERT_TRUE(constant_term(two.label, two.polyhedron.anchor(), 2, constant));
  EXPECT_EQ(constant, 10);
}

TEST(Label, a_step_that_does_not_fit) {
  EXPECT_EQ(joined(row(0, {-kMost}), row(1, {kMost})), "incompatible");
  EXPECT_EQ(widened(row(0, {-kMost}), row(1, {kMost})), "- TOP");
}

TEST(Label, widening_proves_with_fingerprints) {
  const Labelled first = row(0, {67, 71, 77});
  EXPECT_EQ(widened(first, row(1, {68, 72, 78})), "TOP 1");
  EXPECT_EQ(widened(first, row(1, {68, 99, 12})), "TOP TOP");
  EXPECT_EQ(widened(first, row(1, {68, 72})), "TOP 1");
  EXPECT_EQ(widened(first, row(1, {68, 73})), "TOP TOP");
  EXPECT_EQ(widened(row(0, {67, 71}), row(1, {68, 72, 78})), "TOP 1");
  EXPECT_EQ(widened(row(0, {67}), row(1, {68, 72, 78})), "TOP 1");
  EXPECT_EQ(widened(first, row(1, {72, 78, 80}, 1)), "TOP TOP");
}

TEST(Label, the_constant_may_not_fit) {
  const Labelled far = row(0, {kMost, kMost - 2}, 3);
  std::int64_t constant = 0;
  EXPECT_FALSE(constant_term(far.label, far.polyhedron.anchor(), 2, constant));
}

}  // namespace
}  // namespace loopfold::fold
