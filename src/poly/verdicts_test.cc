// Judging a loop of one block, in ten iterations, whose instructions and flow are made by hand.
#include "poly/verdicts.h"

#include <gtest/gtest.h>

#include "poly/one_loop_testing.h"
#include "poly/placed_code.h"
#include "poly/testing.h"

namespace loopfold::poly {
namespace {

using structure::testing::Script;
using testing::adds;
using testing::branches;
using testing::computes;
using testing::kIterations;
using testing::kMain;
using testing::loads;
using testing::one_loop;
using testing::Scene;
using trace::InstructionFacts;
using trace::RegisterFile;

constexpr std::uint16_t kBefore = 0xffff;

/// The block of the loop; the last instruction is the branch that ends it.
class Body {
 public:
  explicit Body(std::vector<InstructionFacts> facts) : scene_(one_loop()), graph_(scene_.made.graph) {
    for (const structure::Context& context : scene_.tree.contexts())
      if (context.kind == structure::Context::Kind::kLoop)
        loop_ = static_cast<structure::ContextId>(&context - scene_.tree.contexts().data());
    for (ddg::Statement& statement : graph_.statements) {
      statement.count = statement.context == loop_ ? kIterations : 1;
      statement.block = statement.context == loop_ ? 1 : 0;
      if (statement.context == loop_) body_ = statement.id;
    }
    facts.push_back(branches());
    ddg::Statement& body = graph_.statements[body_];
    const ddg::Instruction last = body.instructions.back();
    body.instructions.assign(facts.size() - 1, {});
    for (std::size_t i = 0; i + 1 < facts.size(); ++i) body.instructions[i] = {0, facts[i].kinds};
    body.instructions.push_back(last);
    scene_.tree[loop_].instructions = kIterations * body.instructions.size();
    facts_ = {{computes()}, std::move(facts)};
    graph_.objects = testing::objects();
    // The exit is decided by something that is the same in every iteration, unless a test says otherwise.
  }

  std::uint16_t branch() const { return static_cast<std::uint16_t>(facts_[1].size() - 1); }

  ddg::Dependence& flow(std::uint16_t from, std::uint16_t to, std::uint8_t operand, std::uint64_t carried) {
    ddg::Dependence d;
    d.from = from == kBefore ? before() : body_;
    d.from_instruction = from == kBefore ? 0 : from;
    d.to = body_;
    d.to_instruction = to;
    d.operand = operand;
    d.carried = from == kBefore ? std::vector<std::uint64_t>{0, carried} : std::vector<std::uint64_t>{0, carried, 0};
    d.map = testing::fold_of({testing::box_piece({{0, 0}, {1, static_cast<std::int64_t>(carried)}})});
    for (fold::Piece& piece : d.map.pieces) {
      piece.outputs.resize(2);
      for (fold::Output& output : piece.outputs) output.top.assign(2, false);
      piece.outputs[1].distance_minimum = piece.outputs[1].distance_maximum = 1;
    }
    if (operand < facts_[1][to].reads.size()) d.address = facts_[1][to].reads[operand].address;
    graph_.dependences.push_back(d);
    return graph_.dependences.back();
  }
  void within(std::uint16_t from, std::uint16_t to, std::uint8_t operand) {
    graph_.statements[body_].local.push_back({from, to, operand, 0});
  }
  void value(std::uint16_t instruction, bool steady) {
    ddg::Value value;
    value.statement = body_;
    value.instruction = instruction;
    value.width = 8;
    value.steady = steady;
    graph_.values.push_back(value);
  }
  /// A use of what a load of the iteration before got.
  ddg::Origin& reuse(std::uint16_t load, std::uint16_t to, std::uint8_t operand) {
    ddg::Origin origin;
    origin.from = origin.by = origin.to = body_;
    origin.from_instruction = origin.by_instruction = load;
    origin.to_instruction = to;
    origin.operand = operand;
    origin.load = true;
    origin.carried = {0, 9, 0};
    origin.rewritten = origin.reread = {0, 0, 0};
    origin.least = origin.greatest = {0, 1};
    origin.turns = {0, 0};
    graph_.origins.push_back(origin);
    return graph_.origins.back();
  }
  void counts_by(std::uint16_t step) {
    flow(step, step, 0, 9);
    within(step, branch(), ddg::kFlagsOperand);
  }
  ddg::Statement& statement() { return graph_.statements[body_]; }

  LoopVerdict judged(const VerdictOptions& options = {}) {
    graph_.facts = std::make_shared<std::vector<std::vector<InstructionFacts>>>(facts_);
    const std::vector<SourceLoop> loops{{{loop_}}};
    return judge(graph_, scene_.structure, scene_.tree, loops, options).front();
  }
  structure::ContextId loop() const { return loop_; }

 private:
  ddg::StatementId before() const {
    for (const ddg::Statement& statement : graph_.statements)
      if (statement.context != loop_) return statement.id;
    return 0;
  }

  Scene scene_;
  ddg::Graph& graph_;
  structure::ContextId loop_ = structure::kNoContext;
  ddg::StatementId body_ = 0;
  std::vector<std::vector<InstructionFacts>> facts_;
};

TEST(Verdicts, ACounterIsAnInductionVariable) {
  Body body({adds()});
  body.counts_by(0);
  body.value(0, true);
  const LoopVerdict verdict = body.judged();
  EXPECT_EQ(verdict.parallel, Parallel::kYes);
  EXPECT_TRUE(verdict.blocking.empty());
}

TEST(Verdicts, AnEndThatIsNoMatterOfCounting) {
  // if (f(i)) break: the counter is an induction variable, what is made of it is not even.
  for (const bool even : {false, true}) {
    Body body({adds(), computes()});
    body.flow(0, 0, 0, 9);
    body.value(0, true);
    body.within(0, 1, 0);
    body.value(1, even);
    body.within(1, body.branch(), ddg::kFlagsOperand);
    const LoopVerdict verdict = body.judged();
    EXPECT_EQ(verdict.parallel, even ? Parallel::kYes : Parallel::kUnknown);
    EXPECT_EQ(verdict.doubts.size(), even ? 0u : 1u);
    EXPECT_TRUE(verdict.blocking.empty());
  }
}

TEST(Verdicts, AnEndBehindASumThatIsNotRecorded) {
  Body body({adds(), adds()});
  body.flow(0, 0, 0, 9);
  body.value(0, true);
  body.within(0, 1, 0);
  body.within(1, body.branch(), ddg::kFlagsOperand);
  EXPECT_EQ(body.judged().parallel, Parallel::kYes);
}

TEST(Verdicts, ARecurrenceThatIsNotAffineIsData) {
  InstructionFacts other = computes();
  Body body({other});
  body.counts_by(0);
  body.value(0, false);
  const LoopVerdict verdict = body.judged();
  EXPECT_EQ(verdict.parallel, Parallel::kNo);
  ASSERT_EQ(verdict.blocking.size(), 2u);
  EXPECT_EQ(verdict.blocking[0].kind, Blocking::Kind::kExit);
  EXPECT_EQ(verdict.blocking[0].count, kIterations);
  EXPECT_EQ(verdict.blocking[1].kind, Blocking::Kind::kRegister);
  EXPECT_EQ(verdict.blocking[1].count, 9u);
  EXPECT_EQ(verdict.blocking[1].least, 1);
  EXPECT_EQ(verdict.blocking[1].greatest, 1);
}

/// y[i] = 0.3 * y[i] + 1, vectorised, in a loop around it: a product that a move without a type of its own hands on. The
/// same with integers could be an index, of which nothing is recorded.
TEST(Verdicts, FloatingPointIsNoIndexWhoeverMovesIt) {
  for (const bool floating : {false, true}) {
    InstructionFacts product = computes();
    product.kinds = floating ? trace::kFloatVector : trace::kIntegerVector;
    InstructionFacts move = computes();
    move.kinds = trace::kIntegerVector;
    Body body({product, move});
    body.within(0, 1, 0);
    body.flow(1, 0, 0, 9);
    const LoopVerdict verdict = body.judged();
    EXPECT_EQ(verdict.parallel, floating ? Parallel::kNo : Parallel::kUnknown);
    EXPECT_EQ(verdict.blocking.size(), floating ? 1u : 0u);
    EXPECT_EQ(verdict.doubts.size(), floating ? 0u : 1u);
  }
}

TEST(Verdicts, AffineValuesDoNotMakeAnIndexOfData) {
  // k += what was computed from a load that changes: steady by value only.
  InstructionFacts load = loads();
  Body body({adds(), load, adds()});
  body.counts_by(0);
  body.value(0, true);
  body.within(0, 1, 0);
  body.within(1, 2, 1);
  body.flow(2, 2, 0, 9);
  body.value(2, true);
  ddg::Dependence& memory = body.flow(2, 1, ddg::kFirstMemoryOperand, 9);
  memory.kind = ddg::Dependence::Kind::kMemory;
  memory.object = 2;
  EXPECT_EQ(body.judged().parallel, Parallel::kNo);
}

TEST(Verdicts, ALoadCanBeRepeatedWhileItsCellStays) {
  for (const int change : {0, 1, 2}) {
    Body body({adds(), loads(), computes()});
    body.counts_by(0);
    body.value(0, true);
    body.within(0, 1, 0);
    body.flow(1, 2, 0, 9);
    ddg::Origin& reuse = body.reuse(1, 2, 0);
    if (change == 1) reuse.rewritten[1] = 1;
    if (change == 2) reuse.reread[1] = 1;
    const LoopVerdict verdict = body.judged();
    EXPECT_EQ(verdict.parallel, change == 0 ? Parallel::kYes : Parallel::kNo) << change;
    EXPECT_EQ(verdict.reload.size(), change == 0 ? 1u : 0u) << change;
  }
}

TEST(Verdicts, ALoadFromADataAddressCannotBeRepeated) {
  Body body({adds(), computes(), loads(), computes()});
  body.counts_by(0);
  body.value(0, true);
  body.flow(1, 1, 0, 9);  // data
  body.within(1, 2, 0);
  body.flow(2, 3, 0, 9);
  body.reuse(2, 3, 0);
  EXPECT_EQ(body.judged().parallel, Parallel::kNo);
}

TEST(Verdicts, ValuesThatAreHandedRoundBlock) {
  Body body({adds(), computes()});
  body.counts_by(0);
  body.value(0, true);
  ddg::Origin& origin = body.reuse(0, 1, 0);
  origin.from = 0;
  origin.from_instruction = 0;
  origin.by_instruction = 0;
  origin.load = false;
  origin.carried = {0, 10};
  EXPECT_EQ(body.judged().parallel, Parallel::kYes);
  origin.turns[1] = 9;
  const LoopVerdict verdict = body.judged();
  EXPECT_EQ(verdict.parallel, Parallel::kNo);
  EXPECT_EQ(verdict.blocking[0].kind, Blocking::Kind::kTurn);
}

TEST(Verdicts, AWindowOverAnArrayMovesOn) {
  for (const bool moves_on : {false, true}) {
    Body body({adds(), loads(), computes()});
    body.counts_by(0);
    body.value(0, true);
    body.within(0, 1, 0);
    body.flow(1, 2, 0, 7);
    if (moves_on) body.reuse(1, 2, 0).even = true;
    ddg::Origin& first = body.reuse(1, 2, 0);
    first.from = first.by = 0;
    first.from_instruction = first.by_instruction = 0;
    first.even = true;
    first.carried = {0, 3};
    first.turns[1] = 2;
    EXPECT_EQ(body.judged().parallel, moves_on ? Parallel::kYes : Parallel::kUnknown);
    first.even = false;
    EXPECT_EQ(body.judged().parallel, Parallel::kNo);
  }
}

TEST(Verdicts, TheEnvironmentHasAnOrderUnlessCallsArePure) {
  Body body({adds(), computes()});
  body.counts_by(0);
  body.value(0, true);
  ddg::Dependence& d = body.flow(1, 1, ddg::kEnvironmentOperand, 9);
  d.kind = ddg::Dependence::Kind::kEnvironment;
  d.object = ddg::kEnvironmentObject;
  const LoopVerdict verdict = body.judged();
  EXPECT_EQ(verdict.parallel, Parallel::kNo);
  EXPECT_EQ(verdict.blocking[0].kind, Blocking::Kind::kEnvironment);
  VerdictOptions options;
  options.pure.assign(body.loop() + 1, true);
  EXPECT_EQ(body.judged(options).parallel, Parallel::kYes);
}

TEST(Verdicts, ASumIsAReductionUnlessItIsUsed) {
  for (const bool used : {false, true}) {
    InstructionFacts sum = adds();
    sum.floating = true;
    Body body({adds(), sum, computes()});
    body.counts_by(0);
    body.value(0, true);
    body.flow(1, 1, 0, 9);
    body.flow(kBefore, 1, 0, 1);
    body.flow(kBefore, 1, 1, 10);
    if (used) body.within(1, 2, 0);
    const LoopVerdict verdict = body.judged();
    EXPECT_EQ(verdict.parallel, used ? Parallel::kNo : Parallel::kReduction) << used;
    EXPECT_EQ(verdict.reductions.size(), used ? 0u : 1u);
  }
}

/// The verdict of a loop of two blocks, which is entered at the first of them, or at both, once each.
Parallel verdict_of_entries(bool both) {
  Script script;
  script.start(kMain);
  for (const std::uint64_t first : {kMain + 16, both ? kMain + 24 : kMain + 16}) {
    script.jump(first);
    for (int i = 0; i < 8; ++i) script.jump(script.pc() == kMain + 16 ? kMain + 24 : kMain + 16);
    script.jump(kMain + 32);
    script.jump(kMain);
  }
  script.jump(kMain + 40);
  Scene scene(script.finish());
  ddg::Graph& graph = scene.made.graph;
  graph.objects = testing::objects();
  structure::ContextId loop = structure::kNoContext;
  for (structure::ContextId id = 0; id < scene.tree.contexts().size(); ++id) {
    if (scene.tree[id].kind == structure::Context::Kind::kLoop) loop = id;
    scene.tree[id].instructions = 0;
  }
  for (const testing::Step& step : scene.made.steps) {
    ++graph.statements[step.statement].count;
    ++scene.tree[graph.statements[step.statement].context].instructions;
  }
  graph.facts = std::make_shared<std::vector<std::vector<InstructionFacts>>>(1, std::vector{branches()});
  return judge(graph, scene.structure, scene.tree, std::vector<SourceLoop>{{{loop}}}, {}).front().parallel;
}

TEST(Verdicts, IterationsOfALoopWithSeveralWaysInAreNotTheSources) {
  EXPECT_EQ(verdict_of_entries(false), Parallel::kYes);
  EXPECT_EQ(verdict_of_entries(true), Parallel::kUnknown);
}

TEST(Verdicts, ALoopAroundOneWithSeveralWaysInIsMixedWithItIfTheyAreOneInTheSource) {
  // The inner one is "ifd" and "ife", entered at both.
  const std::vector<std::string> run = {"start", "a", "ifd", "ife", "ifd", "ife", "ifo", "a",   "ife", "ifd", "ife",
                                        "ifo",   "a", "ifd", "ife", "ifd", "ifo", "a",   "ifd", "ife", "ifo", "end"};
  for (const bool one : {false, true}) {
    testing::Playing playing({{"start", 1}, {"a", 10}, {"ifd", 11}, {"ife", 12}, {"ifo", one ? 12 : 13}, {"end", 20}},
                             run);
    EXPECT_EQ(playing.judged("a").parallel, one ? Parallel::kUnknown : Parallel::kYes) << one;
    EXPECT_EQ(playing.judged("ife").parallel, Parallel::kUnknown) << one;
  }
}

TEST(Verdicts, WhatIsNotKnownIsADoubt) {
  const auto verdict = [](auto change) {
    Body body({adds(), computes()});
    body.counts_by(0);
    body.value(0, true);
    change(body);
    return body.judged();
  };
  EXPECT_EQ(verdict([](Body&) {}).parallel, Parallel::kYes);
  EXPECT_EQ(verdict([](Body& b) { b.flow(kBefore, 1, 0, 10).late = {0, 3}; }).parallel, Parallel::kUnknown);
  EXPECT_EQ(verdict([](Body& b) { b.flow(kBefore, 1, 0, 10).from = ddg::kNoStatement; }).parallel, Parallel::kUnknown);
  EXPECT_EQ(verdict([](Body& b) { b.statement().count = 9; }).parallel, Parallel::kUnknown);
  EXPECT_EQ(verdict([](Body& b) { b.reuse(0, 1, 0).by = ddg::kNoStatement; }).parallel, Parallel::kUnknown);
  EXPECT_EQ(verdict([](Body& b) { b.statement().instructions[1].kinds |= trace::kUnknown; }).parallel,
            Parallel::kUnknown);
  const LoopVerdict late = verdict([](Body& b) {
    b.flow(1, 1, 0, 9);
    b.flow(kBefore, 1, 1, 10).late = {0, 3};
  });
  EXPECT_EQ(late.parallel, Parallel::kUnknown);
  ASSERT_EQ(late.doubts.size(), 1u);
  EXPECT_EQ(late.doubts[0].count, 3u);
}

}  // namespace
}  // namespace loopfold::poly
