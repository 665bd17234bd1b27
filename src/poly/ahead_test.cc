// Values that come from the iteration before, in a loop of one block and ten iterations that is made by hand.
#include "poly/ahead.h"

#include <gtest/gtest.h>

#include <map>

#include "poly/one_loop_testing.h"
#include "poly/testing.h"
#include "poly/verdicts.h"

namespace loopfold::poly {
namespace {

using testing::branches;
using testing::kIterations;
using testing::kMain;
using testing::one_loop;
using testing::Scene;
using trace::InstructionFacts;
using trace::RegisterFile;

constexpr ddg::ObjectId kHeap = 2;

InstructionFacts computes(std::uint32_t form = 1) {
  return testing::computes(trace::kInteger | trace::kArithmetic, form);
}
InstructionFacts adds() { return testing::adds(2); }
InstructionFacts loads() { return testing::loads(3); }

/// Operand 0 is its address, operand 1 what it stores.
InstructionFacts stores() {
  InstructionFacts facts;
  facts.kinds = trace::kInteger | trace::kStore;
  facts.form = 4;
  facts.transfer = trace::Transfer::kCopy;
  facts.reads.push_back({.file = RegisterFile::kGeneral, .index = 3, .width = 8, .address = true});
  facts.reads.push_back({.file = RegisterFile::kGeneral, .index = 1, .width = 8});
  return facts;
}

/// Instruction 0 of the body is the counter, and the last one the branch that tests it. Before the loop are two
/// instructions that compute, of forms 1 and 9. Instruction i is in line 10 + i, those before the loop in lines 1 and
/// 2, all in column 5.
class Body {
 public:
  explicit Body(std::vector<InstructionFacts> facts) : scene_(one_loop()), graph_(scene_.made.graph) {
    facts.insert(facts.begin(), adds());
    facts.push_back(branches());
    for (structure::ContextId id = 0; id < scene_.tree.contexts().size(); ++id)
      if (scene_.tree[id].kind == structure::Context::Kind::kLoop) loop_ = id;
    for (ddg::Statement& statement : graph_.statements) {
      const bool inside = statement.context == loop_;
      statement.count = inside ? kIterations : 1;
      statement.block = inside ? 1 : 0;
      statement.instructions.assign(inside ? facts.size() : 2, {});
      if (inside) body_ = statement.id;
      if (inside || before_ != ddg::kNoStatement) continue;
      before_ = statement.id;
    }
    for (std::uint16_t i = 0; i < facts.size(); ++i) line({body_, i}, 10 + i);
    line(start(0), 1);
    line(start(1), 2);
    branch_ = static_cast<std::uint16_t>(facts.size() - 1);
    scene_.tree[loop_].instructions = kIterations * facts.size();
    facts_ = {{computes(), computes(9)}, std::move(facts)};
    graph_.objects = testing::objects();
    carry(0, 0, 0);
    within(0, branch_, ddg::kFlagsOperand);
    value({body_, 0}, 0, 1);
  }

  CodePoint at(std::uint16_t instruction) const { return {body_, instruction}; }
  CodePoint start(std::uint16_t instruction) const { return {before_, instruction}; }
  void line(CodePoint point, int line, int column = 5) {
    symbols::Frame frame;
    frame.file = "loop.c";
    frame.line = line;
    frame.column = column;
    frames_[point] = {frame};
  }
  void within(std::uint16_t from, std::uint16_t to, std::uint8_t operand) {
    graph_.statements[body_].local.push_back({from, to, operand, 0});
  }
  ddg::Dependence& carry(std::uint16_t from, std::uint16_t to, std::uint8_t operand, std::int64_t distance = 1) {
    return depend({body_, from}, to, operand, {0, kIterations - 1, 0}, distance);
  }
  ddg::Dependence& begin(CodePoint from, std::uint16_t to, std::uint8_t operand) {
    return depend(from, to, operand, {0, 1}, 0);
  }
  /// offset + step * i, in each iteration i.
  void access(std::uint16_t instruction, std::int64_t offset, std::int64_t step, ddg::ObjectId object = kHeap) {
    ddg::Access access;
    access.statement = body_;
    access.instruction = instruction;
    access.store = (facts_[1][instruction].kinds & trace::kStore) != 0;
    access.size = 4;
    access.object = object;
    access.same_offset = step == 0;
    access.address = line_of(0, 0, offset, step);
    graph_.accesses.push_back(access);
  }
  void value(CodePoint of, std::int64_t first, std::int64_t step) {
    ddg::Value value;
    value.statement = of.statement;
    value.instruction = of.instruction;
    value.width = 8;
    value.value = of.statement == body_ ? line_of(first, step) : fixed(first);
    graph_.values.push_back(value);
  }

  /// Asks about the edge that is carried to an operand.
  template <typename Question>
  auto ask(std::uint16_t to, std::uint8_t operand, Question question) {
    finish();
    const FlowIndex index(graph_, scene_.tree);
    std::vector<std::uint32_t> scratch(graph_.statements.size(), FlowEdge::kOutside);
    const LoopValues values(index, *scene_.control, {{loop_}}, scratch);
    const Ahead ahead(index, *scene_.control, values, [this](CodePoint point) { return frames_[point]; });
    const LoopFlow& flow = values.flow();
    for (const std::uint32_t edge : flow.in[values.node({body_, to})])
      if (flow.edges[edge].operand == operand && flow.edges[edge].carried > 0) return question(ahead, flow.edges[edge]);
    ADD_FAILURE() << "nothing is carried there";
    return question(ahead, FlowEdge{});
  }
  bool element_before(std::uint16_t to, std::uint8_t operand, std::uint16_t load) {
    const auto found = ask(to, operand, [](const Ahead& a, const FlowEdge& e) { return a.element_before(e); });
    return found == at(load);
  }
  bool kept_constant(std::uint16_t to, std::uint8_t operand) {
    return ask(to, operand, [](const Ahead& a, const FlowEdge& e) { return a.is_kept_constant(e); });
  }
  bool computed_ahead(std::uint16_t to, std::uint8_t operand) {
    return ask(to, operand, [](const Ahead& a, const FlowEdge& e) { return a.is_computed_ahead(e); });
  }
  bool mirrors_counter(std::uint16_t to, std::uint8_t operand) {
    return ask(to, operand, [](const Ahead& a, const FlowEdge& e) { return a.mirrors_counter(e); });
  }
  LoopVerdict judged() {
    finish();
    const std::vector<SourceLoop> loops{{{loop_}}};
    return judge(graph_, scene_.structure, scene_.tree, loops, {}).front();
  }
  std::vector<std::vector<InstructionFacts>>& facts() { return facts_; }

 private:
  static fold::Folded line_of(std::int64_t first, std::int64_t step) { return folded({{first, step}}); }
  static fold::Folded line_of(std::int64_t block, std::int64_t blocks, std::int64_t offset, std::int64_t step) {
    return folded({{block, blocks}, {offset, step}});
  }
  static fold::Folded folded(const std::vector<std::pair<std::int64_t, std::int64_t>>& outputs) {
    fold::Piece piece = testing::box_piece({{0, 0}, {0, kIterations - 1}});
    for (const auto& [first, step] : outputs) piece.outputs.push_back(testing::linear_output(piece, first, {0, step}));
    return testing::fold_of({piece});
  }
  static fold::Folded fixed(std::int64_t value) {
    fold::Piece piece = testing::box_piece({{0, 0}});
    piece.outputs.push_back(testing::linear_output(piece, value, {0}));
    return testing::fold_of({piece});
  }
  ddg::Dependence& depend(CodePoint from, std::uint16_t to, std::uint8_t operand, std::vector<std::uint64_t> carried,
                          std::int64_t distance) {
    ddg::Dependence d;
    d.from = from.statement;
    d.from_instruction = from.instruction;
    d.to = body_;
    d.to_instruction = to;
    d.operand = operand;
    d.carried = std::move(carried);
    if (operand >= ddg::kFirstMemoryOperand && operand != ddg::kFlagsOperand) {
      d.kind = ddg::Dependence::Kind::kMemory;
      d.object = kHeap;
    }
    if (operand < facts_[1][to].reads.size()) d.address = facts_[1][to].reads[operand].address;
    d.map = testing::fold_of({testing::box_piece({{0, 0}, {1, kIterations - 1}})});
    for (fold::Piece& piece : d.map.pieces) {
      piece.outputs.resize(2);
      for (fold::Output& output : piece.outputs) output.top.assign(2, false);
      piece.outputs[1].distance_minimum = piece.outputs[1].distance_maximum = distance;
    }
    graph_.dependences.push_back(d);
    return graph_.dependences.back();
  }
  void finish() {
    std::stable_sort(graph_.accesses.begin(), graph_.accesses.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.statement, a.instruction) < std::tuple(b.statement, b.instruction);
    });
    graph_.facts = std::make_shared<std::vector<std::vector<InstructionFacts>>>(facts_);
  }

  Scene scene_;
  ddg::Graph& graph_;
  structure::ContextId loop_ = structure::kNoContext;
  ddg::StatementId body_ = 0;
  ddg::StatementId before_ = ddg::kNoStatement;
  std::uint16_t branch_ = 0;
  std::vector<std::vector<InstructionFacts>> facts_;
  std::map<CodePoint, std::vector<symbols::Frame>> frames_;
};

/// x = a[i + 1] (instruction 2), y = *p (3), where p = &a[i + 1] (1) is of the iteration before.
struct ElementBefore : Body {
  explicit ElementBefore(std::int64_t first, std::int64_t step) : Body({computes(), loads(), loads()}) {
    within(0, 1, 0);
    within(0, 2, 0);
    carry(1, 3, 0);
    access(2, 4, 4);
    access(3, first, step);
  }
};

TEST(Ahead, TheAddressOfTheElementBeforeNeedNotBeCarried) {
  ElementBefore body(0, 4);
  EXPECT_TRUE(body.element_before(3, 0, 2));
  const LoopVerdict verdict = body.judged();
  EXPECT_EQ(verdict.parallel, Parallel::kYes);
  EXPECT_EQ(verdict.reload, std::vector<CodePoint>{body.at(2)});
}

TEST(Ahead, AnAddressThatIsNotTheElementBeforeIsADoubt) {
  EXPECT_EQ(ElementBefore(8, 4).judged().parallel, Parallel::kUnknown);
  EXPECT_EQ(ElementBefore(0, 8).judged().parallel, Parallel::kUnknown);
  EXPECT_EQ(ElementBefore(4, 0).judged().parallel, Parallel::kUnknown);
  Body far({computes(), loads(), loads()});
  far.within(0, 1, 0);
  far.within(0, 2, 0);
  far.carry(1, 3, 0, 2);
  far.access(2, 4, 4);
  far.access(3, 0, 4);
  EXPECT_EQ(far.judged().parallel, Parallel::kUnknown);
}

/// n = m - 1 (2), where m (1) is loaded from a cell; k = n - i (3) uses n of the iteration before; a[i] = k (4).
struct KeptConstant : Body {
  explicit KeptConstant(std::uint16_t from = 0, std::int64_t value_before = 43, std::int64_t moves = 4)
      : Body({loads(), computes(), computes(7), stores()}) {
    within(1, 2, 0);
    within(0, 3, 1);
    within(3, 4, 1);
    carry(2, 3, 0);
    begin(start(from), 3, 0);
    access(1, 100, 0);
    access(4, 0, moves);
    value(at(2), 43, 0);
    value(start(from), value_before, 0);
    line(start(from), 12, 7);
  }
};

TEST(Ahead, WhatTheTestComputedIsThereWhenTheLoopIsEntered) { EXPECT_TRUE(KeptConstant().kept_constant(3, 0)); }

TEST(Ahead, AKeptConstantBeginsAsTheSameComputation) {
  EXPECT_FALSE(KeptConstant(1).kept_constant(3, 0));
  EXPECT_FALSE(KeptConstant(0, 42).kept_constant(3, 0));
  KeptConstant elsewhere;
  elsewhere.line(elsewhere.start(0), 1);
  EXPECT_FALSE(elsewhere.kept_constant(3, 0));
  KeptConstant unknown;
  unknown.line(unknown.start(0), 0);
  unknown.line(unknown.at(2), 0);
  EXPECT_FALSE(unknown.kept_constant(3, 0));
}

TEST(Ahead, AnIterationThatWasTakenOutLeavesItsStore) {
  EXPECT_FALSE(KeptConstant(0, 43, 0).kept_constant(3, 0));
  KeptConstant peeled;
  peeled.line(peeled.start(1), 14);
  EXPECT_FALSE(peeled.kept_constant(3, 0));
}

TEST(Ahead, WhatChangesInTheLoopIsNoConstant) {
  KeptConstant counted;
  counted.within(0, 2, 1);
  EXPECT_FALSE(counted.kept_constant(3, 0));
  KeptConstant written;
  written.carry(4, 1, ddg::kFirstMemoryOperand);
  EXPECT_FALSE(written.kept_constant(3, 0));
}

/// p = f(a[i]) (2), where a[i] (1) is loaded; k = g(p) (3) uses p of the iteration before.
struct ComputedAhead : Body {
  explicit ComputedAhead(int column = 5) : Body({loads(), computes(), computes(7)}) {
    within(0, 1, 0);
    within(1, 2, 0);
    carry(2, 3, 0);
    begin(start(0), 3, 0);
    access(1, 0, 4);
    line(start(0), 12, column);
  }
};

TEST(Ahead, AnExpressionThatStandsOnceMayBeTheNextIterations) {
  EXPECT_TRUE(ComputedAhead().computed_ahead(3, 0));
  EXPECT_FALSE(ComputedAhead(6).computed_ahead(3, 0));
}

TEST(Ahead, WhatIsComputedFromTheLoopsResultsIsCarried) {
  ComputedAhead written;
  written.carry(3, 1, ddg::kFirstMemoryOperand);
  EXPECT_FALSE(written.computed_ahead(3, 0));
  ComputedAhead chain;
  chain.carry(3, 2, 1);
  EXPECT_FALSE(chain.computed_ahead(3, 0));
  ComputedAhead other;
  other.carry(0, 3, 0);
  EXPECT_FALSE(other.computed_ahead(3, 0));
}

/// cell = i (1), behind the step; x = cell (2), of the iteration before.
struct Mirrored : Body {
  explicit Mirrored(int store_line) : Body({stores(), loads(), computes()}) {
    within(0, 1, 1);
    carry(1, 2, ddg::kFirstMemoryOperand);
    within(2, 3, 0);
    access(1, 100, 0);
    access(2, 100, 0);
    line(at(1), store_line);
  }
};

TEST(Ahead, ACopyOfTheCounterWithoutALineIsADoubt) {
  EXPECT_TRUE(Mirrored(0).mirrors_counter(2, ddg::kFirstMemoryOperand));
  EXPECT_FALSE(Mirrored(11).mirrors_counter(2, ddg::kFirstMemoryOperand));
  EXPECT_EQ(Mirrored(0).judged().parallel, Parallel::kUnknown);
}

TEST(Ahead, OnlyTheCounterThatEndsTheLoopHasAMirror) {
  Body other({adds(), stores(), loads(), computes()});
  other.carry(1, 1, 0);
  other.value(other.at(1), 0, 3);
  other.within(1, 2, 1);
  other.carry(2, 3, ddg::kFirstMemoryOperand);
  other.within(3, 4, 0);
  other.access(2, 100, 0);
  other.access(3, 100, 0);
  other.line(other.at(2), 0);
  EXPECT_FALSE(other.mirrors_counter(3, ddg::kFirstMemoryOperand));
  EXPECT_EQ(other.judged().parallel, Parallel::kNo);
}

}  // namespace
}  // namespace loopfold::poly
