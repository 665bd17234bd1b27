// Reconstruction of small sequences: what is found, and that it is what went in.
#include "reconstruct/reconstruct.h"

#include <gtest/gtest.h>

#include <random>

namespace loopfold::reconstruct {

namespace {

using Addresses = std::vector<std::uint64_t>;

Addresses generated(const std::vector<Piece>& pieces) {
  Addresses addresses;
  for (const Piece& piece : pieces)
    regenerate(piece, [&](const Run& run) {
      for (std::uint64_t i = 0; i < run.count; ++i)
        addresses.push_back(run.start + static_cast<std::uint64_t>(run.stride) * i);
    });
  return addresses;
}

struct Found {
  Summary summary;
  std::vector<Piece> pieces;
  const Nest& nest() const { return pieces.at(0).nest; }
};

/// Reconstructs, and checks that the pieces say exactly what went in.
Found reconstructed(const Addresses& addresses, const Options& options = {}) {
  Reconstructor loops(options);
  loops.add(addresses);
  Found found{loops.finish(), loops.pieces()};
  EXPECT_EQ(generated(found.pieces), addresses);
  EXPECT_EQ(found.summary.accesses, addresses.size());
  std::uint64_t count = 0;
  for (const Piece& piece : found.pieces) {
    count += piece.count();
    EXPECT_EQ(count_of(piece.nest), piece.nest.count);
  }
  EXPECT_EQ(count, addresses.size());
  return found;
}

Addresses rows(std::uint64_t n, std::uint64_t m) {
  Addresses addresses;
  for (std::uint64_t i = 0; i < n; ++i)
    for (std::uint64_t j = 0; j < m; ++j) addresses.push_back(1000 * i + 8 * j);
  return addresses;
}

TEST(Reconstruct, NothingGivesNothing) {
  const Found found = reconstructed({});
  EXPECT_EQ(found.summary.pieces, 0U);
  EXPECT_EQ(found.summary.levels, 0U);
}

TEST(Reconstruct, OneAddressIsAPieceWithoutLoops) {
  const Found found = reconstructed({77});
  ASSERT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.nest(), (Nest{77, 1, {}, {}, {}}));
}

TEST(Reconstruct, AConstantStrideIsOneLoop) {
  Addresses addresses;
  for (std::uint64_t i = 0; i < 1000; ++i) addresses.push_back(5000 - 24 * i);
  const Found found = reconstructed(addresses);
  ASSERT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.nest(), (Nest{5000, 1000, {-24}, {999}, {-1}}));
}

TEST(Reconstruct, TheSameAddressAgainAndAgainIsOneLoop) {
  const Found found = reconstructed(Addresses(100, 9));
  ASSERT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.nest(), (Nest{9, 100, {0}, {99}, {-1}}));
}

TEST(Reconstruct, ATriangleIsTwoLoops) {
  Addresses addresses;
  for (std::uint64_t i = 0; i < 30; ++i)
    for (std::uint64_t j = 0; j <= i; ++j) addresses.push_back(1 << 20 | (800 * i + 8 * j));
  const Found found = reconstructed(addresses);
  ASSERT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.nest().coefficients, (std::vector<std::int64_t>{800, 8}));
  EXPECT_EQ(found.nest().w, (std::vector<std::int64_t>{29, 0}));
  EXPECT_EQ(found.nest().bound_coefficient(1, 0), 1);
}

// The rows of i + j overlap, and the first ones look like one: 0 | 1 2 | 2 3 4 | …
TEST(Reconstruct, RowsThatRunIntoEachOtherAreToldApart) {
  Addresses addresses;
  for (std::uint64_t i = 0; i < 20; ++i)
    for (std::uint64_t j = 0; j <= i; ++j) addresses.push_back(8 * (i + j));
  const Found found = reconstructed(addresses);
  ASSERT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.summary.levels, 2U);
}

// In the first iteration of i the rows of j are one run of 300; later they overlap.
TEST(Reconstruct, ALongFirstRunIsCutWhereLaterRowsSay) {
  Addresses addresses;
  for (std::uint64_t i = 0; i < 5; ++i)
    for (std::uint64_t j = 0; j < 10; ++j)
      for (std::uint64_t k = 0; k < 30 + i; ++k) addresses.push_back(8 * (30 * j + k));
  const Found found = reconstructed(addresses);
  ASSERT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.summary.levels, 3U);
}

TEST(Reconstruct, WholeRowsMergeIntoFewerLoops) {
  Addresses addresses;
  for (std::uint64_t t = 0; t < 4; ++t)
    for (std::uint64_t i = 0; i < 10; ++i)
      for (std::uint64_t j = 0; j < 10; ++j) addresses.push_back(4 * (10 * i + j));
  const Found found = reconstructed(addresses);
  ASSERT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.summary.levels, 2U);
}

TEST(Reconstruct, AddressesAroundTheMiddleAndTheEndsOfTheAddressSpace) {
  for (const std::uint64_t base :
       {std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 40, ~std::uint64_t{0} - 100, std::uint64_t{3}}) {
    Addresses addresses;
    for (std::uint64_t i = 0; i < 12; ++i)
      for (std::uint64_t j = 0; j < 9; ++j) addresses.push_back(base + 64 * j - 8 * i);
    const Found found = reconstructed(addresses);
    EXPECT_EQ(found.summary.pieces, 1U);
    EXPECT_EQ(found.summary.levels, 2U);
  }
}

TEST(Reconstruct, FarStridesWrapAround) {
  Addresses addresses;
  for (std::uint64_t i = 0; i < 50; ++i)
    for (std::uint64_t j = 0; j < 3; ++j) addresses.push_back(i * 0x7fffffffffffffff + j * 0x4000000000000001);
  const Found found = reconstructed(addresses);
  EXPECT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.summary.levels, 2U);
}

TEST(Reconstruct, TwoNestsInARowAreTwoPieces) {
  Addresses addresses;
  for (std::uint64_t i = 0; i < 40; ++i)
    for (std::uint64_t j = 0; j < 30; ++j) addresses.push_back(1000000 + 500 * i + 8 * j);
  for (std::uint64_t i = 0; i < 50; ++i)
    for (std::uint64_t j = 0; j < 20; ++j) addresses.push_back(9000000 + 8 * i + 700 * j);
  const Found found = reconstructed(addresses);
  EXPECT_LE(found.summary.pieces, 3U);
  EXPECT_GE(found.summary.covered, addresses.size() - 8);
}

// A loop of two iterations around it, in which the bounds change: 39 rows of 50, then one of 30.
TEST(Reconstruct, ATraceThatIsCutOffInARowIsStillANest) {
  Addresses addresses = rows(40, 50);
  addresses.resize(addresses.size() - 20);
  const Found found = reconstructed(addresses);
  ASSERT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.nest().w, (std::vector<std::int64_t>{1, 38, 49}));
}

TEST(Reconstruct, WhatNoNestExplainsIsCutBehindTheLongest) {
  Addresses addresses = rows(40, 50);
  std::mt19937_64 random(9);
  for (int i = 0; i < 50; ++i) addresses.push_back(random());
  const Addresses more = rows(30, 60);
  addresses.insert(addresses.end(), more.begin(), more.end());
  const Found found = reconstructed(addresses);
  EXPECT_EQ(found.nest().count, 40U * 50);
  EXPECT_GE(found.summary.covered, 40 * 50 + 29 * 60);
}

TEST(Reconstruct, NoiseStaysNoise) {
  std::mt19937_64 random(3);
  Addresses addresses;
  for (int i = 0; i < 5000; ++i) addresses.push_back(random() % 100000);
  const Found found = reconstructed(addresses);
  EXPECT_LT(found.summary.covered, addresses.size() / 50);
  EXPECT_LT(found.summary.tries, 80000U);
}

TEST(Reconstruct, AHistogramIsNotAffine) {
  std::mt19937_64 random(4);
  Addresses addresses;
  for (int i = 0; i < 20000; ++i) addresses.push_back(4096 + 4 * (random() % 256));
  const Found found = reconstructed(addresses);
  EXPECT_GT(found.summary.pieces, 1000U);
  EXPECT_LT(found.summary.covered, addresses.size() / 20);
}

TEST(Reconstruct, RunsAreTheirAddresses) {
  Addresses addresses;
  Reconstructor by_runs;
  Reconstructor one_by_one;
  for (std::uint64_t i = 0; i < 30; ++i)
    for (std::uint64_t j = 0; j < 20; ++j) {
      by_runs.add_run(10000 * i + 400 * j, 8, 5 + j);
      for (std::uint64_t k = 0; k < 5 + j; ++k) {
        addresses.push_back(10000 * i + 400 * j + 8 * k);
        one_by_one.add(addresses.back());
      }
    }
  const Summary runs = by_runs.finish();
  const Summary ones = one_by_one.finish();
  const Found all = reconstructed(addresses);
  ASSERT_EQ(all.summary.pieces, 1U);
  EXPECT_EQ(by_runs.pieces().at(0).nest, all.nest());
  EXPECT_EQ(one_by_one.pieces().at(0).nest, all.nest());
  EXPECT_EQ(runs.accesses, ones.accesses);
  EXPECT_EQ(runs.by_bounds, ones.by_bounds);
  EXPECT_EQ(runs.by_bounds, all.summary.by_bounds);
}

TEST(Reconstruct, ALongRunIsOneStep) {
  Reconstructor loops;
  for (std::uint64_t i = 0; i < 1000; ++i) loops.add_run(i << 40, 1, std::uint64_t{1} << 40);
  const Summary& summary = loops.finish();
  EXPECT_EQ(summary.accesses, 1000 * (std::uint64_t{1} << 40));
  ASSERT_EQ(summary.pieces, 1U);
  EXPECT_EQ(loops.pieces()[0].nest.coefficients, std::vector<std::int64_t>{1});
}

TEST(Reconstruct, TellsTheNextAddresses) {
  Reconstructor loops;
  std::uint64_t next[4] = {};
  EXPECT_EQ(loops.predict(next), 0U);
  for (std::uint64_t i = 0; i < 3; ++i)
    for (std::uint64_t j = 0; j < 4; ++j) loops.add(100 * i + j);
  loops.add(300);
  loops.add(301);
  ASSERT_EQ(loops.predict(next), 4U);
  EXPECT_EQ(Addresses(next, next + 4), (Addresses{302, 303, 400, 401}));
}

TEST(Reconstruct, LimitsOnLoopsAreKept) {
  Addresses addresses;
  for (std::uint64_t i = 0; i < 10; ++i)
    for (std::uint64_t j = 0; j < 10; ++j)
      for (std::uint64_t k = 0; k < 10; ++k) addresses.push_back(100000 * i + 1000 * j + k);
  Options options;
  options.max_levels = 2;
  const Found found = reconstructed(addresses, options);
  EXPECT_EQ(found.summary.levels, 2U);
  EXPECT_EQ(found.summary.pieces, 10U);
}

TEST(Reconstruct, WithoutGammaTheResultIsTheSame) {
  Addresses addresses;
  for (std::uint64_t i = 0; i < 12; ++i)
    for (std::uint64_t j = i; j < 12; ++j)
      for (std::uint64_t k = 0; k < 6; ++k) addresses.push_back(1000 * i + 80 * j + 8 * k);
  Options options;
  options.gamma = false;
  const Found found = reconstructed(addresses, options);
  EXPECT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.nest(), reconstructed(addresses).nest());
}

TEST(Reconstruct, PiecesGoToTheSink) {
  std::vector<Piece> got;
  Reconstructor loops({}, [&](Piece&& piece) { got.push_back(std::move(piece)); });
  loops.add_run(0, 8, 100);
  loops.finish();
  EXPECT_EQ(got.size(), 1U);
  EXPECT_TRUE(loops.pieces().empty());
}

// ---- outliers -----------------------------------------------------------------------------------------------------

Options tolerant() {
  Options options;
  options.tolerance = 0.05;
  return options;
}

TEST(ReconstructOutliers, AReplacedAddressDoesNotEndAPiece) {
  Addresses addresses = rows(20, 30);
  addresses[333] = 7;
  const Found found = reconstructed(addresses, tolerant());
  ASSERT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.pieces[0].outliers, (std::vector<Outlier>{{Outlier::Kind::kReplaced, 333, 7}}));
  EXPECT_EQ(found.summary.covered, addresses.size() - 1);
}

TEST(ReconstructOutliers, AnInsertedAddressDoesNotEndAPiece) {
  Addresses addresses = rows(20, 30);
  addresses.insert(addresses.begin() + 400, 7);
  const Found found = reconstructed(addresses, tolerant());
  ASSERT_EQ(found.summary.pieces, 1U);
  EXPECT_EQ(found.pieces[0].outliers, (std::vector<Outlier>{{Outlier::Kind::kInserted, 400, 7}}));
}

TEST(ReconstructOutliers, AMissingAddressDoesNotEndAPiece) {
  Addresses addresses = rows(20, 30);
  addresses.erase(addresses.begin() + 400);
  const Found found = reconstructed(addresses, tolerant());
  ASSERT_EQ(found.summary.pieces, 1U);
  ASSERT_EQ(found.pieces[0].outliers.size(), 1U);
  EXPECT_EQ(found.pieces[0].outliers[0].kind, Outlier::Kind::kMissing);
}

TEST(ReconstructOutliers, WithoutToleranceTheyCostLoopsOrPieces) {
  Addresses addresses = rows(20, 30);
  addresses[333] = 7;
  const Found found = reconstructed(addresses);
  EXPECT_TRUE(found.summary.pieces > 1 || found.summary.levels > 2);
}

TEST(ReconstructOutliers, RandomNoiseIsWrittenDownExactly) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    Addresses addresses = rows(10 + random() % 20, 5 + random() % 30);
    for (std::uint64_t edits = random() % 6; edits > 0; --edits) {
      const auto at = addresses.begin() + static_cast<std::ptrdiff_t>(random() % addresses.size());
      if (random() % 3 == 0)
        addresses.erase(at);
      else if (random() % 2 == 0)
        addresses.insert(at, random() % 100000);
      else
        *at = random() % 100000;
    }
    const Found found = reconstructed(addresses, tolerant());
    EXPECT_LE(found.summary.outliers, addresses.size() / 20 + 3);
  }
}

}  // namespace

}  // namespace loopfold::reconstruct
