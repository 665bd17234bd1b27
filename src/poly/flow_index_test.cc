// Which moves bring a register's value back, in a loop of one hand-made block.
#include "poly/flow_index.h"

#include <gtest/gtest.h>

#include "poly/testing.h"

namespace loopfold::poly {
namespace {

using trace::InstructionFacts;
using trace::RegisterFile;

/// Register to register.
InstructionFacts moves(std::uint8_t to, std::uint8_t from, std::uint8_t width = 8) {
  InstructionFacts facts;
  facts.kinds = trace::kInteger;
  facts.transfer = trace::Transfer::kCopy;
  facts.reads.push_back({.file = RegisterFile::kGeneral, .index = from, .width = width});
  facts.writes.push_back({.file = RegisterFile::kGeneral, .index = to, .width = 8});
  return facts;
}

/// Two blocks of a loop in a loop: instructions 0 and 1 of the first, 0 of the second one.
class Moves {
 public:
  Moves(const InstructionFacts& first, const InstructionFacts& second, const InstructionFacts& third) {
    const structure::ContextId loop = tree_.loop(tree_.start(1), 1);
    const fold::Folded domain = testing::fold_of({testing::box_piece({{0, 0}, {0, 9}})});
    graph.statements = {testing::statement(0, loop, domain, {100, 104}), testing::statement(1, loop, domain, {108})};
    graph.statements[1].block = 1;
    graph.facts = std::make_shared<std::vector<std::vector<InstructionFacts>>>(
        std::vector<std::vector<InstructionFacts>>{{first, second}, {third}});
    graph.objects = testing::objects();
  }

  /// From the first instruction to the one of the second block, so many of ten instances in the same iteration.
  void across(std::uint64_t same) {
    ddg::Dependence d;
    d.from = 0;
    d.to = 1;
    d.carried = {0, 10 - same, same};
    d.map.points = 10;
    graph.dependences.push_back(d);
  }
  bool restores(CodePoint at) const { return FlowIndex(graph, tree_.tree).restores(at); }

  ddg::Graph graph;

 private:
  testing::Tree tree_;
};

TEST(FlowIndex, AMoveBackInTheSameInstanceRestores) {
  Moves there_and_back(moves(1, 7), moves(7, 1), moves(2, 3));
  there_and_back.graph.statements[0].local = {{0, 1, 0, 0}};
  EXPECT_TRUE(there_and_back.restores({0, 1}));
  EXPECT_FALSE(there_and_back.restores({0, 0}));
  Moves elsewhere(moves(1, 7), moves(6, 1), moves(2, 3));
  elsewhere.graph.statements[0].local = {{0, 1, 0, 0}};
  EXPECT_FALSE(elsewhere.restores({0, 1}));
  Moves half(moves(1, 7, 4), moves(7, 1), moves(2, 3));
  half.graph.statements[0].local = {{0, 1, 0, 0}};
  EXPECT_FALSE(half.restores({0, 1}));
}

TEST(FlowIndex, AMoveBackRestoresOnlyWhatTheIterationMovedAway) {
  Moves same(moves(1, 7), moves(2, 3), moves(7, 1));
  same.across(10);
  EXPECT_TRUE(same.restores({1, 0}));
  Moves older(moves(1, 7), moves(2, 3), moves(7, 1));
  older.across(9);
  EXPECT_FALSE(older.restores({1, 0}));
}

TEST(FlowIndex, EveryWriterMustHaveMovedItAway) {
  Moves two(moves(1, 7), moves(1, 3), moves(7, 1));
  two.across(10);
  EXPECT_TRUE(two.restores({1, 0}));
  two.across(10);
  two.graph.dependences.back().from_instruction = 1;
  EXPECT_FALSE(two.restores({1, 0}));
}

}  // namespace
}  // namespace loopfold::poly
