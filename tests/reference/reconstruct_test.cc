// Reconstruction against random nests and against the slow reference.
//
// LOOPFOLD_SEED: the first seed (default 1); LOOPFOLD_SOAK: times as many trials. A failure names its seed and nest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "reconstruct/reconstruct.h"
#include "reference/reconstruct_naive.h"
#include "reference/reconstruct_random.h"

namespace loopfold::reconstruct::reference {

namespace {

using Addresses = std::vector<std::uint64_t>;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::uint64_t first_seed() { return number_from("LOOPFOLD_SEED", 1); }
std::uint64_t trials(std::uint64_t n) { return n * number_from("LOOPFOLD_SOAK", 1); }

std::string text_of(const Nest& nest) {
  std::string text = fmt::format("{} addresses\n", nest.count);
  for (std::size_t j = 0; j < nest.levels(); ++j) {
    text += fmt::format("  c {} w {} U", nest.coefficients[j], nest.w[j]);
    for (std::size_t r = 0; r < j; ++r) text += fmt::format(" {}", nest.bound_coefficient(j, r));
    text += "\n";
  }
  return text;
}

Addresses generated(const std::vector<Piece>& pieces) {
  Addresses addresses;
  for (const Piece& piece : pieces)
    regenerate(piece, [&](const Run& run) {
      for (std::uint64_t i = 0; i < run.count; ++i)
        addresses.push_back(run.start + static_cast<std::uint64_t>(run.stride) * i);
    });
  return addresses;
}

/// Reconstructs; the pieces must generate the same addresses, whatever else is found.
Summary reconstruct_exactly(const Addresses& addresses, const Options& options = {}) {
  Reconstructor loops(options);
  loops.add(addresses);
  const Summary summary = loops.finish();
  EXPECT_EQ(generated(loops.pieces()), addresses);
  return summary;
}

/// Two loops in a row with coefficient 0 and bounds that change are told only by products of lengths of one run: the
/// search may give up on those. Everything else must be found.
bool is_hard(const Nest& nest) {
  std::size_t zeros = 0;
  for (const std::int64_t c : nest.coefficients) zeros += c == 0 ? 1 : 0;
  return zeros > 1;
}

struct Rate {
  std::uint64_t trials = 0;
  std::uint64_t deeper = 0;  // more than one piece, or more loops than were there
};

Rate run_kind(const RandomNest& kind, std::uint64_t count, bool hard) {
  Rate rate;
  for (std::uint64_t seed = first_seed(); rate.trials < trials(count); ++seed) {
    std::mt19937_64 random(seed * 7919 + kind.depth * 31 + static_cast<std::uint64_t>(kind.coefficients));
    const Nest nest = random_nest(random, kind);
    if (is_hard(nest) != hard) continue;
    ++rate.trials;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << text_of(nest));
    const Summary summary = reconstruct_exactly(addresses_of(nest));
    const bool found = summary.pieces == 1 && summary.levels <= kind.depth;
    rate.deeper += found ? 0 : 1;
    if (!found && kind.depth <= 3 && !hard)
      ADD_FAILURE() << summary.pieces << " pieces, " << summary.levels << " loops";
  }
  return rate;
}

class RandomNests : public testing::TestWithParam<std::size_t> {};

// Up to three loops: always. Deeper: all but a few in a thousand, where rows run into each other several times.
TEST_P(RandomNests, AreFoundWithAtMostTheirLoops) {
  for (int coefficients = 0; coefficients < 3; ++coefficients)
    for (const bool empties : {false, true}) {
      RandomNest kind;
      kind.depth = GetParam();
      kind.coefficients = coefficients;
      kind.empties = empties;
      if (kind.depth > 4) kind.most_trips = 4;
      const Rate rate = run_kind(kind, 100, false);
      EXPECT_LE(rate.deeper, rate.trials / 50) << "coefficients " << coefficients;
    }
}

TEST_P(RandomNests, WithSeveralZeroCoefficientsAreFoundMostly) {
  if (GetParam() < 2) GTEST_SKIP() << "needs two loops";
  RandomNest kind;
  kind.depth = GetParam();
  kind.coefficients = 2;
  if (kind.depth > 4) kind.most_trips = 4;
  const Rate rate = run_kind(kind, 60, true);
  EXPECT_LE(rate.deeper, rate.trials / 10);
}

TEST_P(RandomNests, WithNoiseInsertedAreExactAndMostlyCovered) {
  RandomNest kind;
  kind.depth = GetParam();
  if (kind.depth > 4) kind.most_trips = 4;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + trials(60); ++seed) {
    std::mt19937_64 random(seed);
    const Nest nest = random_nest(random, kind);
    Addresses addresses = addresses_of(nest);
    const std::uint64_t edits = 1 + random() % 4;
    for (std::uint64_t i = 0; i < edits; ++i)
      addresses.insert(addresses.begin() + static_cast<std::ptrdiff_t>(random() % addresses.size()), random());
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << text_of(nest));
    reconstruct_exactly(addresses);
    Options options;
    options.tolerance = 0.02;
    const Summary tolerant = reconstruct_exactly(addresses, options);
    EXPECT_LE(tolerant.outliers, addresses.size() / 50 + 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Depths, RandomNests, testing::Values(1, 2, 3, 4, 5, 6));

// ---- the slow reference ---------------------------------------------------------------------------------------------

/// A nest that is found must not have more loops than the smallest one.
void compare(const Addresses& addresses, std::size_t most, std::uint64_t& decided) {
  const std::optional<std::size_t> fewest = fewest_levels(addresses, most, 20000);
  const Summary summary = reconstruct_exactly(addresses);
  if (!fewest) return;
  ++decided;
  std::string text;
  for (const std::uint64_t address : addresses) text += fmt::format(" {}", static_cast<std::int64_t>(address));
  if (*fewest <= 2) {
    EXPECT_EQ(summary.pieces, 1U) << text;
    EXPECT_LE(summary.levels, *fewest) << text;
  } else if (summary.pieces == 1) {
    EXPECT_LE(summary.levels, *fewest) << text;
  }
}

TEST(AgainstTheSlowReference, SmallNests) {
  std::uint64_t decided = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + trials(300); ++seed) {
    std::mt19937_64 random(seed);
    RandomNest kind;
    kind.depth = 1 + random() % 3;
    kind.coefficients = static_cast<int>(random() % 3);
    kind.most_trips = 4;
    kind.most_addresses = 24;
    compare(addresses_of(random_nest(random, kind)), 3, decided);
  }
  EXPECT_GT(decided, trials(200));
}

TEST(AgainstTheSlowReference, AnyFewNumbers) {
  std::uint64_t decided = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + trials(2000); ++seed) {
    std::mt19937_64 random(seed);
    Addresses addresses;
    for (std::uint64_t n = 1 + random() % 7; n > 0; --n) addresses.push_back(random() % 4);
    compare(addresses, 3, decided);
  }
  EXPECT_GT(decided, trials(1000));
}

TEST(TheSlowReference, KnowsSimpleNests) {
  EXPECT_EQ(fewest_levels({5}, 3, 1000), 0U);
  EXPECT_EQ(fewest_levels({5, 7, 9, 11}, 3, 1000), 1U);
  EXPECT_EQ(fewest_levels({0, 10, 11, 20, 21, 22}, 3, 10000), 2U);
  EXPECT_EQ(fewest_levels({0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112}, 3, 100000), 3U);
}

}  // namespace

}  // namespace loopfold::reconstruct::reference
