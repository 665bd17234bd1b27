// For tests: a nest of two loops whose instructions and flow are made by hand, judged for real.
//
//     for (i = 0; i < 4; i++) {
//       H                              before the inner loop
//       for (j = 0; j < 3; j++) {
//         B                            its body
//         C                            and the branch that ends it
//       }
//       T                              behind it, with the branch that ends the outer loop
//     }
//
// Each is a block that ends with a branch; a test puts instructions in front of that. Conditions are the same in every
// iteration, until there is flow into them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "poly/control_testing.h"
#include "poly/one_loop_testing.h"
#include "poly/program.h"
#include "poly/region_flow.h"
#include "poly/testing.h"

namespace loopfold::poly::testing {

inline trace::InstructionFacts stores() {
  trace::InstructionFacts facts;
  facts.kinds = trace::kInteger | trace::kStore;
  facts.form = 9;
  facts.reads.push_back({.file = trace::RegisterFile::kGeneral, .index = 0, .width = 8});
  facts.reads.push_back({.file = trace::RegisterFile::kGeneral, .index = 3, .width = 8, .address = true});
  return facts;
}

class NestScene {
 public:
  enum class Carrier { kNone, kOuter, kInner };
  static constexpr std::int64_t kOuterTrips = 4;
  static constexpr std::int64_t kInnerTrips = 3;

  explicit NestScene(const std::map<char, std::vector<trace::InstructionFacts>>& code)
      : scene_(story()), graph_(scene_.made.graph) {
    for (const Step& step : scene_.made.steps) ++graph_.statements[step.statement].count;
    for (structure::ContextId id = 0; id < scene_.tree.contexts().size(); ++id) scene_.tree[id].instructions = 0;
    for (ddg::Statement& statement : graph_.statements) {
      statement.block = statement.id;
      const char name = name_of(statement.id);
      std::vector<trace::InstructionFacts> facts;
      if (const auto found = code.find(name); found != code.end()) facts = found->second;
      facts.push_back(branches());
      const ddg::Instruction last = statement.instructions.back();
      statement.instructions.clear();
      for (std::size_t i = 0; i + 1 < facts.size(); ++i) statement.instructions.push_back({0, facts[i].kinds});
      statement.instructions.push_back(last);
      scene_.tree[statement.context].instructions += statement.count * statement.instructions.size();
      statement.domain = fold_of({box(statement.id, Carrier::kNone)});
      for (std::uint16_t i = 0; i + 1u < facts.size(); ++i)
        if ((facts[i].kinds & (trace::kLoad | trace::kStore)) != 0)
          add_access(statement.id, i, (facts[i].kinds & trace::kStore) != 0);
      facts_.push_back(std::move(facts));
    }
    graph_.facts = std::make_shared<std::vector<std::vector<trace::InstructionFacts>>>(facts_);
    graph_.objects = objects();
  }

  /// A value goes from an instruction to an operand of another one: one iteration on in the loop that carries it.
  ddg::Dependence& flow(char from, std::uint16_t from_instruction, char to, std::uint16_t to_instruction,
                        std::uint8_t operand, Carrier carrier = Carrier::kNone) {
    ddg::Dependence d;
    d.from = statement(from);
    d.to = statement(to);
    d.from_instruction = from_instruction;
    d.to_instruction = to_instruction;
    d.operand = operand;
    if (operand >= ddg::kFirstMemoryOperand) {
      d.kind = ddg::Dependence::Kind::kMemory;
      d.object = 2;
    } else if (operand < facts_[d.to][to_instruction].reads.size()) {
      d.address = facts_[d.to][to_instruction].reads[operand].address;
    }
    const std::size_t shared = ddg::shared_dimensions(scene_.tree, context(from), context(to));
    fold::Piece piece = box(d.to, carrier);
    const std::size_t level = carrier == Carrier::kNone ? shared : carrier == Carrier::kOuter ? 1 : 2;
    for (std::size_t o = 0; o < ddg::dimensions_of(scene_.tree, context(from)); ++o) {
      std::vector<std::int64_t> coefficients(piece.ranges.size());
      const bool same = o < shared && o <= level;
      const bool carries = same && o == level;
      if (same) coefficients[o] = 1;
      const std::int64_t last = o == 2 ? kInnerTrips - 1 : 0;
      fold::Output output = linear_output(piece, !same ? last : carries ? -1 : 0, coefficients);
      if (o < shared) output.distance_minimum = output.distance_maximum = carries ? 1 : 0;
      piece.outputs.push_back(output);
    }
    d.carried.assign(shared + 1, 0);
    d.carried[level] = piece.points;
    d.map = fold_of({piece});
    graph_.dependences.push_back(d);
    return graph_.dependences.back();
  }
  /// Within a block.
  void local(char in, std::uint16_t from, std::uint16_t to, std::uint8_t operand) {
    graph_.statements[statement(in)].local.push_back({from, to, operand, 0});
  }
  /// Whether a result grows evenly along the innermost loop around it.
  void value(char in, std::uint16_t instruction, bool steady) {
    ddg::Value value;
    value.statement = statement(in);
    value.instruction = instruction;
    value.width = 8;
    value.steady = steady;
    graph_.values.push_back(value);
  }
  /// A counter, or something that only counts by accident.
  void counts(char in, std::uint16_t instruction, Carrier carrier, bool steady) {
    flow(in, instruction, in, instruction, 0, carrier);
    value(in, instruction, steady);
  }
  std::uint16_t branch(char in) const { return static_cast<std::uint16_t>(facts_[statement(in)].size() - 1); }

  /// Judges both loops. A reason to doubt a loop may be given.
  RegionFlow& collect(const std::string& doubt_outer = "", const std::string& doubt_inner = "") {
    flow_ = std::make_unique<RegionFlow>(graph_, scene_.structure, scene_.tree);
    add(graph_, outer(), doubt_outer);
    add(graph_, inner(), doubt_inner);
    flow_->finish();
    return *flow_;
  }

  /// The same if the inner loop did not know of the last flow.
  RegionFlow& collect_without_last_inside() {
    flow_ = std::make_unique<RegionFlow>(graph_, scene_.structure, scene_.tree);
    ddg::Graph less = graph_;
    less.dependences.pop_back();
    add(graph_, outer(), "");
    add(less, inner(), "");
    flow_->finish();
    return *flow_;
  }

  Program program(structure::ContextId of, const ProgramLimits& limits = {}) {
    std::stable_sort(graph_.dependences.begin(), graph_.dependences.end(), [](const auto& a, const auto& b) {
      return std::tie(a.to, a.to_instruction) < std::tie(b.to, b.to_instruction);
    });
    const Context context{scene_.tree, {}, {}, 0};
    return build_program(isl.get(), graph_, context, *flow_, {{of}}, limits);
  }

  structure::ContextId context(char name) const { return graph_.statements[statement(name)].context; }
  structure::ContextId outer() const { return context('H'); }
  structure::ContextId inner() const { return context('B'); }
  ddg::StatementId statement(char name) const {
    for (const ddg::Statement& statement : graph_.statements)
      if (name_of(statement.id) == name) return statement.id;
    ADD_FAILURE() << name;
    return 0;
  }
  CodePoint at(char name, std::uint16_t instruction) const { return {statement(name), instruction}; }

  IslContext isl{isl_ctx_alloc()};

 private:
  static constexpr std::uint64_t kHead = kMain + 8;
  static constexpr std::uint64_t kBody = kMain + 16;
  static constexpr std::uint64_t kLatch = kMain + 24;
  static constexpr std::uint64_t kTail = kMain + 32;
  static constexpr std::uint64_t kEnd = kMain + 40;

  static structure::testing::Story story() {
    structure::testing::Script script;
    script.start(kMain);
    for (std::int64_t i = 0; i < kOuterTrips; ++i) {
      script.jump(kHead);
      for (std::int64_t j = 0; j < kInnerTrips; ++j) {
        script.jump(kBody);
        script.jump(kLatch);
      }
      script.jump(kTail);
    }
    script.jump(kEnd);
    script.jump(kEnd + 8);
    return script.finish();
  }

  char name_of(ddg::StatementId id) const {
    const std::map<std::uint64_t, char> names{{kHead, 'H'}, {kBody, 'B'}, {kLatch, 'C'}, {kTail, 'T'}};
    const auto found = names.find(scene_.address(id));
    return found == names.end() ? ' ' : found->second;
  }

  /// Of all instances, or those that are not in the first iteration of a loop.
  fold::Piece box(ddg::StatementId id, Carrier without_first) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> bounds{{0, 0}, {0, kOuterTrips - 1}, {0, kInnerTrips - 1}};
    bounds.resize(ddg::dimensions_of(scene_.tree, graph_.statements[id].context));
    if (without_first != Carrier::kNone) bounds[without_first == Carrier::kOuter ? 1 : 2].first = 1;
    return box_piece(bounds);
  }

  /// Of elements of eight bytes, one after the other along the innermost loop.
  void add_access(ddg::StatementId id, std::uint16_t instruction, bool store) {
    ddg::Access access;
    access.statement = id;
    access.instruction = instruction;
    access.store = store;
    access.object = 2;
    access.size = 8;
    fold::Piece piece = box(id, Carrier::kNone);
    std::vector<std::int64_t> steps(piece.ranges.size());
    piece.outputs.push_back(linear_output(piece, 0, steps));
    steps.back() = 8;
    piece.outputs.push_back(linear_output(piece, 0, steps));
    access.address = fold_of({piece});
    access.same_offset = false;
    graph_.accesses.push_back(access);
  }

  void add(const ddg::Graph& graph, structure::ContextId loop, const std::string& doubt) {
    VerdictOptions options;
    options.on_loop = [&](const JudgedLoop& judged) {
      LoopVerdict verdict = judged.verdict;
      EXPECT_TRUE(verdict.doubts.empty()) << verdict.doubts.front().why;
      if (!doubt.empty()) verdict.doubts.push_back({doubt, {}, 1});
      flow_->add({verdict, judged.values, judged.control, judged.kept});
    };
    const std::vector<SourceLoop> loops{{{loop}}};
    judge(graph, scene_.structure, scene_.tree, loops, options);
  }

  Scene scene_;
  ddg::Graph& graph_;
  std::vector<std::vector<trace::InstructionFacts>> facts_;  // by statement
  std::unique_ptr<RegionFlow> flow_;
};

/// isl's own equality.
inline bool equals(const Isl<isl_map>& map, const std::string& text) {
  const Isl<isl_map> other(isl_map_read_from_str(isl_map_get_ctx(map.get()), text.c_str()));
  EXPECT_TRUE(other) << text;
  return isl_map_is_equal(map.get(), other.get()) == isl_bool_true;
}

/// All dependences between two groups, as one map.
inline Isl<isl_map> between(const Program& program, std::uint32_t from, std::uint32_t to) {
  Isl<isl_map> all;
  for (const ProgramDependence& dependence : program.dependences) {
    if (dependence.from != from || dependence.to != to) continue;
    all = all ? Isl<isl_map>(isl_map_union(all.release(), dependence.map.copy())) : dependence.map;
  }
  return all;
}

}  // namespace loopfold::poly::testing
