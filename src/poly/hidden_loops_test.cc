#include "poly/hidden_loops.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace loopfold::poly {
namespace {

using Blocks = std::vector<std::uint64_t>;

TEST(HiddenLoops, CommonBlocksAreAChainOfDivisors) {
  EXPECT_EQ(common_blocks({}), Blocks{});
  EXPECT_EQ(common_blocks({{64}}), Blocks{64});
  EXPECT_EQ(common_blocks({{64}, {64}}), Blocks{64});
  EXPECT_EQ(common_blocks({{64}, {4096, 64}}), (Blocks{4096, 64}));
  EXPECT_EQ(common_blocks({{196}, {14}, {196, 14}}), (Blocks{196, 14}));
}

TEST(HiddenLoops, TheHeaviestStreamDecidesWhatDoesNotFit) {
  EXPECT_EQ(common_blocks({{48}, {50}, {96}}), (Blocks{96, 48}));
  EXPECT_EQ(common_blocks({{50}, {48}, {100}}), (Blocks{100, 50}));
}

TEST(HiddenLoops, LevelsAreFew) { EXPECT_EQ(common_blocks({{16, 8, 4, 2}}).size(), 3u); }

TEST(HiddenLoops, SplitsMustBeWorthIt) {
  EXPECT_TRUE(is_worth_it({100, 100}, {500, 500}, 1000));
  EXPECT_FALSE(is_worth_it({100, 100}, {105, 105}, 1000)) << "too little is won";
  EXPECT_FALSE(is_worth_it({500, 100}, {100, 400}, 1000)) << "more is lost than won";
  EXPECT_TRUE(is_worth_it({500, 100}, {400, 400}, 1000)) << "less is lost than won";
  EXPECT_TRUE(is_worth_it({500, 100}, {500, 400}, 1000)) << "fewer pieces";
  EXPECT_FALSE(is_worth_it({500, 500}, {500, 500}, 1000));
  EXPECT_FALSE(is_worth_it({500, 500}, {900, 400}, 1000)) << "accesses are worse";
  EXPECT_FALSE(is_worth_it({0, 0}, {0, 0}, 10));
}

fold::Folded folded(std::size_t pieces, bool widened = false) {
  fold::Folded result;
  result.pieces.resize(pieces);
  result.points = 1000;
  result.widened = widened;
  return result;
}

/// main with a loop, and in it a small loop; statements with the given domain and address in both.
class Scene {
 public:
  Scene() {
    using Kind = structure::Context::Kind;
    structure::ContextKey key;
    key.kind = Kind::kStart;
    key.parent = structure::LoopTree::root();
    const structure::ContextId start = tree.child(key, 0, 0);
    key.kind = Kind::kLoop;
    key.parent = start;
    key.loop = 0;
    loop = tree.child(key, 0, 0);
    key.parent = loop;
    key.loop = 1;
    small = tree.child(key, 0, 0);
    tree[loop].instructions = 10000;
    tree[loop].trips.max = 1000;
    tree[small].instructions = 100;
    tree[small].trips.max = 100;
  }

  void add(structure::ContextId context, fold::Folded domain, fold::Folded address) {
    ddg::Statement statement;
    statement.id = static_cast<ddg::StatementId>(graph.statements.size());
    statement.context = context;
    statement.count = 1000;
    statement.instructions.resize(2);
    statement.domain = std::move(domain);
    ddg::Access access;
    access.statement = statement.id;
    access.address = std::move(address);
    graph.statements.push_back(std::move(statement));
    graph.accesses.push_back(std::move(access));
  }

  structure::LoopTree tree;
  structure::ContextId loop = 0;
  structure::ContextId small = 0;
  ddg::Graph graph;
};

TEST(HiddenLoops, CandidatesAreWhatIsNotAffineInHotLoops) {
  Scene scene;
  scene.add(scene.loop, folded(1), folded(1));
  EXPECT_TRUE(hidden_candidates(scene.graph, scene.tree).empty());
  scene.add(scene.loop, folded(1), folded(1, true));
  std::vector<HiddenCandidate> found = hidden_candidates(scene.graph, scene.tree);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].loop, scene.loop);
  EXPECT_EQ(found[0].statement, 1u);
  EXPECT_TRUE(found[0].is_access);
  scene.add(scene.small, folded(12), folded(1));
  found = hidden_candidates(scene.graph, scene.tree);
  ASSERT_EQ(found.size(), 2u) << "along the loop around it, but not along the small one, which is cold";
  EXPECT_EQ(std::count_if(found.begin(), found.end(), [&](const auto& c) { return c.loop == scene.small; }), 0);
  scene.tree[scene.small].instructions = 1000;
  EXPECT_EQ(hidden_candidates(scene.graph, scene.tree).size(), 3u);
}

TEST(HiddenLoops, QualityCountsInstructions) {
  Scene scene;
  scene.add(scene.loop, folded(1), folded(1));
  scene.add(scene.loop, folded(1), folded(1, true));
  scene.add(scene.loop, folded(8), folded(1));
  const Quality quality = quality_of(scene.graph);
  EXPECT_EQ(quality.exact, 4000u);
  EXPECT_EQ(quality.simple, 2000u);
}

}  // namespace
}  // namespace loopfold::poly
