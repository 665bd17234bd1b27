#include "poly/sample_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace loopfold::poly {
namespace {

using Samples = std::vector<std::uint64_t>;

reconstruct::Options options() {
  reconstruct::Options options;
  options.max_levels = 4;
  options.max_tries = 200;
  return options;
}

/// A nest of two loops, a walk without plan, or the one behind the other.
Samples random_samples(std::mt19937_64& random) {
  Samples samples;
  const std::uint64_t regular = random() % 3 == 0 ? 0 : random() % 300;
  const std::uint64_t inner = 1 + random() % 20;
  const std::uint64_t steps[2] = {random() % 1000, 1 + random() % 16};
  for (std::uint64_t i = 0; i < regular; ++i) samples.push_back(i / inner * steps[0] + i % inner * steps[1]);
  std::uint64_t at = samples.empty() ? 0 : samples.back();
  for (std::uint64_t i = random() % 3 == 0 ? random() % 300 : 0; i > 0; --i) samples.push_back(at += random() % 64);
  if (samples.empty()) samples.push_back(0);
  const std::uint64_t first = samples.front();
  for (std::uint64_t& sample : samples) sample -= first;
  return samples;
}

/// What a search says that is given the samples alone, one by one.
struct Alone {
  std::vector<bool> irregular;  // behind each whole batch, and in the end
  std::vector<reconstruct::Piece> pieces;
};

Alone search_alone(const Samples& samples, std::uint64_t moved) {
  Alone alone;
  reconstruct::Reconstructor engine(options());
  const auto look = [&](std::uint64_t count) {
    const reconstruct::Summary& summary = engine.summary();
    alone.irregular.push_back(summary.pieces > 6 + count / 128 || summary.tries > options().max_tries + count / 8);
    return alone.irregular.back();
  };
  for (std::size_t i = 0; i < samples.size(); ++i) {
    engine.add(samples[i] + moved);
    if ((i + 1) % SampleTree::kBatch == 0 && look(i + 1)) return alone;
  }
  if (look(samples.size())) return alone;
  engine.finish();
  alone.pieces = engine.pieces();
  return alone;
}

Alone search_in(SampleTree& tree, SampleTree::Path& path, std::span<const std::uint64_t> samples) {
  Alone found;
  path.restart();
  for (; samples.size() >= SampleTree::kBatch; samples = samples.subspan(SampleTree::kBatch)) {
    found.irregular.push_back(path.add(tree, samples.first(SampleTree::kBatch), false).irregular);
    if (found.irregular.back()) return found;
  }
  const SampleTree::Node& end = path.add(tree, samples, true);
  found.irregular.push_back(end.irregular);
  found.pieces = end.pieces;
  return found;
}

/// The same but for where it is.
void expect_same(const Alone& expected, const Alone& found, std::uint64_t moved) {
  EXPECT_EQ(expected.irregular, found.irregular);
  ASSERT_EQ(expected.pieces.size(), found.pieces.size());
  for (std::size_t i = 0; i < expected.pieces.size(); ++i) {
    reconstruct::Nest nest = found.pieces[i].nest;
    nest.base += moved;
    EXPECT_EQ(expected.pieces[i].nest, nest);
  }
}

class SampleTreeRandom : public testing::TestWithParam<std::size_t> {};

/// Sequences with common beginnings, at several places, some of them in turns.
TEST_P(SampleTreeRandom, FindsWhatEachSearchFindsAlone) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 40; ++round) {
    SampleTree tree(options(), GetParam());
    std::vector<Samples> family = {random_samples(random)};
    while (family.size() < 6) {
      Samples other = family[random() % family.size()];
      other.resize(1 + random() % other.size());
      for (const std::uint64_t sample : random_samples(random)) other.push_back(other.back() + sample);
      family.push_back(other);
    }
    SampleTree::Path path;
    for (int i = 0; i < 20; ++i) {
      const Samples& samples = family[random() % family.size()];
      const std::uint64_t moved = random();
      expect_same(search_alone(samples, moved), search_in(tree, path, samples), moved);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Room, SampleTreeRandom, testing::Values(0, 2, SampleTree::kMostNodes));

/// Others that stand where a sequence goes on, or that go on after it, are not disturbed by it.
TEST(SampleTree, SequencesGoOnBesideEachOther) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 40; ++round) {
    SampleTree tree(options());
    std::vector<Samples> all(4, random_samples(random));
    for (Samples& samples : all) {
      while (samples.size() < 4 * SampleTree::kBatch) samples.push_back(samples.back() + 3);
      if (random() % 2 == 0) samples[random() % samples.size()] += 8;
    }
    std::vector<SampleTree::Path> paths(all.size());
    std::vector<Alone> found(all.size());
    for (std::size_t at = 0; at + SampleTree::kBatch <= 4 * SampleTree::kBatch; at += SampleTree::kBatch)
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!found[i].irregular.empty() && found[i].irregular.back()) continue;
        const std::span<const std::uint64_t> batch(all[i].data() + at, SampleTree::kBatch);
        found[i].irregular.push_back(paths[i].add(tree, batch, false).irregular);
      }
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].resize(4 * SampleTree::kBatch);
      if (!found[i].irregular.back()) {
        const SampleTree::Node& end = paths[i].add(tree, {}, true);
        found[i].irregular.push_back(end.irregular);
        found[i].pieces = end.pieces;
      }
      expect_same(search_alone(all[i], 0), found[i], 0);
    }
  }
}

TEST(SampleTree, WhatIsKnownIsNotSearchedAgain) {
  std::mt19937_64 random(3);
  SampleTree tree(options());
  SampleTree::Path path;
  Samples samples;
  for (std::uint64_t i = 0; i < 1000; ++i) samples.push_back(i / 10 * 100 + i % 10);
  search_in(tree, path, samples);
  const std::size_t nodes = tree.nodes();
  EXPECT_EQ(nodes, 1000 / SampleTree::kBatch + 1);
  search_in(tree, path, samples);
  EXPECT_EQ(tree.nodes(), nodes);
}

}  // namespace
}  // namespace loopfold::poly
