// Steps under a condition, in a loop of two bodies: a first entry takes the one, a second entry the other. And what the
// loop around it hands on to a use inside.
#include "poly/loop_values.h"

#include <gtest/gtest.h>

#include "poly/control_testing.h"
#include "poly/testing.h"

namespace loopfold::poly {
namespace {

using structure::testing::Script;
using testing::Scene;
using trace::InstructionFacts;
using trace::RegisterFile;

constexpr std::uint64_t kMain = 0x1000;
constexpr std::uint64_t kOuter = kMain + 0x8;
constexpr std::uint64_t kHeader = kMain + 0x10;
constexpr std::uint64_t kBodies[2] = {kMain + 0x18, kMain + 0x20};
constexpr std::uint64_t kLatch = kMain + 0x28;
constexpr std::uint64_t kTrips = 5;

/// In each of two iterations of the outer loop, the inner one goes through one of its bodies.
structure::testing::Story two_bodies() {
  Script script;
  script.start(kMain);
  for (const std::uint64_t body : kBodies) {
    script.jump(kOuter);
    for (std::uint64_t i = 0; i < kTrips; ++i) {
      script.jump(kHeader);
      script.jump(body);
      script.jump(kLatch);
    }
  }
  script.jump(kMain + 0x30);
  script.jump(kMain + 0x38);
  return script.finish();
}

InstructionFacts branches() {
  InstructionFacts facts;
  facts.kinds = trace::kBranch | trace::kConditional;
  facts.flags_read = trace::kZeroFlag;
  return facts;
}

InstructionFacts adds() {
  InstructionFacts facts;
  facts.kinds = trace::kInteger | trace::kArithmetic;
  facts.associative = trace::Associative::kAdd;
  for (std::uint8_t reg = 0; reg < 2; ++reg)
    facts.reads.push_back({.file = RegisterFile::kGeneral, .index = reg, .width = 8});
  facts.writes.push_back({.file = RegisterFile::kGeneral, .index = 0, .width = 8});
  return facts;
}

InstructionFacts moves() {
  InstructionFacts facts;
  facts.kinds = trace::kInteger;
  facts.transfer = trace::Transfer::kCopy;
  facts.reads.push_back({.file = RegisterFile::kGeneral, .index = 1, .width = 8});
  facts.writes.push_back({.file = RegisterFile::kGeneral, .index = 0, .width = 8});
  return facts;
}

/// Every block is a sum and a branch.
class Bodies {
 public:
  Bodies() : scene_(two_bodies()), graph_(scene_.made.graph) {
    for (structure::ContextId id = 0; id < scene_.tree.contexts().size(); ++id)
      if (scene_.tree[id].kind == structure::Context::Kind::kLoop) {
        if (outer_ == structure::kNoContext) outer_ = id;
        inner_ = id;
      }
    for (ddg::Statement& statement : graph_.statements) {
      statement.block = 0;
      statement.instructions.insert(statement.instructions.begin(), {0, 0});
      ddg::Value value;
      value.statement = statement.id;
      value.width = 8;
      graph_.values.push_back(value);
    }
    graph_.objects = testing::objects();
    graph_.facts = std::make_shared<std::vector<std::vector<InstructionFacts>>>(
        std::vector<std::vector<InstructionFacts>>{{adds(), branches()}, {moves(), branches()}});
  }

  /// The sum of a block adds to what it was in the iteration before.
  void steps(std::uint64_t block) { depend(block, block, 0, 0, {0, 0, kTrips - 1, 0}); }
  /// The branch of a block tests the sum of a block: of its own iteration, or from before the loop.
  void tests(std::uint64_t block, std::uint64_t sum) {
    if (sum == kOuter || sum == kMain)
      depend(sum, block, 1, ddg::kFlagsOperand, {0, 2 * kTrips});
    else
      depend(sum, block, 1, ddg::kFlagsOperand, {0, 0, 0, 2 * kTrips});
  }
  bool is_induction_variable(std::uint64_t block) {
    const FlowIndex index(graph_, scene_.tree);
    std::vector<std::uint32_t> scratch(graph_.statements.size(), FlowEdge::kOutside);
    const LoopValues values(index, *scene_.control, {{inner_}}, scratch);
    const FlowNode& node = values.flow().nodes[values.node({at(block), 0})];
    return node.index && node.in_recurrence;
  }
  /// How often a block's sum gets something from before the outer loop that an earlier iteration of that loop has put
  /// there: its first block is a move, and passes it on.
  std::uint64_t handed_on(std::uint64_t block, std::vector<std::uint64_t> carried) {
    graph_.statements[at(kOuter)].block = 1;
    depend(kOuter, block, 0, 1, std::move(carried));
    ddg::Origin origin;
    origin.from = at(kMain);
    origin.by = at(kOuter);
    origin.to = at(block);
    origin.operand = 1;
    origin.carried = {0, kTrips};
    origin.turns = {0, 0, 0};
    graph_.origins.push_back(origin);
    const FlowIndex index(graph_, scene_.tree);
    std::vector<std::uint32_t> scratch(graph_.statements.size(), FlowEdge::kOutside);
    const LoopValues values(index, *scene_.control, {{outer_}}, scratch);
    std::uint64_t turns = 0;
    for (const std::uint32_t edge : values.flow().in[values.node({at(block), 0})]) turns += values.facts(edge).turns;
    return turns;
  }
  ddg::StatementId at(std::uint64_t address) const {
    for (const ddg::Statement& statement : graph_.statements)
      if (scene_.address(statement.id) == address) return statement.id;
    ADD_FAILURE() << "no statement at " << address;
    return 0;
  }

 private:
  void depend(std::uint64_t from, std::uint64_t to, std::uint16_t instruction, std::uint8_t operand,
              std::vector<std::uint64_t> carried) {
    ddg::Dependence d;
    d.from = at(from);
    d.to = at(to);
    d.to_instruction = instruction;
    d.operand = operand;
    d.carried = std::move(carried);
    graph_.dependences.push_back(d);
  }

  Scene scene_;
  ddg::Graph& graph_;
  structure::ContextId outer_ = structure::kNoContext;
  structure::ContextId inner_ = structure::kNoContext;
};

TEST(LoopValues, AStepInEveryIterationIsOfAnInductionVariable) {
  Bodies bodies;
  bodies.steps(kLatch);
  EXPECT_TRUE(bodies.is_induction_variable(kLatch));
}

TEST(LoopValues, AStepUnderAConditionOfTheEntryIsOfAnInductionVariable) {
  Bodies bodies;
  bodies.steps(kBodies[0]);
  bodies.tests(kHeader, kOuter);
  EXPECT_TRUE(bodies.is_induction_variable(kBodies[0]));
}

TEST(LoopValues, AStepUnderAnyOtherConditionIsNot) {
  Bodies counted;
  counted.steps(kBodies[0]);
  counted.steps(kHeader);
  counted.tests(kHeader, kHeader);
  EXPECT_TRUE(counted.is_induction_variable(kHeader));
  EXPECT_FALSE(counted.is_induction_variable(kBodies[0]));
}

TEST(LoopValues, AUseInAnInnerLoopDoesNotShowWhatTheFirstIterationHadThere) {
  EXPECT_GT(Bodies().handed_on(kHeader, {0, kTrips, 0}), 0u);
  EXPECT_EQ(Bodies().handed_on(kHeader, {0, 0, kTrips}), 0u);
}

}  // namespace
}  // namespace loopfold::poly
