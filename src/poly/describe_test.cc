#include "poly/describe.h"

#include <gtest/gtest.h>

#include "poly/functions.h"
#include "poly/statistics.h"
#include "poly/testing.h"
#include "profile/json.h"
#include "trace/decode.h"

namespace loopfold::poly {
namespace {

using testing::box_piece;
using testing::fold_of;
using testing::linear_output;
using testing::objects;
using testing::statement;
using testing::Tree;
using Coefficients = std::vector<Coefficient>;

/// for (i = 0; i < 10; i++) for (j = 0; j < 5; j++) s += a[i][j], with rows of 80 bytes from one malloc each.
class Nest : public ::testing::Test {
 protected:
  Nest() {
    start_ = tree_.start(1);
    outer_ = tree_.loop(start_, 10);
    inner_ = tree_.loop(outer_, 11);
    graph_.objects = objects();
    graph_.statements.push_back(statement(0, start_, fold_of({box_piece({{0, 0}})}), {109}));
    graph_.statements.push_back(
        statement(1, inner_, fold_of({box_piece({{0, 0}, {0, 9}, {0, 4}})}), {112, 111, 112, 250}));
    graph_.statements[1].local.resize(3);
    tree_.profile.program.instructions = 201;
  }

  fold::Piece piece() const { return graph_.statements[1].domain.pieces[0]; }

  ddg::Access& load(std::vector<fold::Piece> pieces) {
    ddg::Access access;
    access.statement = 1;
    access.size = 8;
    access.object = 2;
    access.address = fold_of(std::move(pieces));
    graph_.accesses.push_back(std::move(access));
    return graph_.accesses.back();
  }

  fold::Piece row_piece() const {
    fold::Piece row = piece();
    row.outputs = {linear_output(row, 0, {0, 1, 0}), linear_output(row, 0, {0, 0, 8})};
    return row;
  }

  /// s(i, j) depends on s(i, j - 1).
  ddg::Dependence& sum() {
    fold::Piece piece = box_piece({{0, 0}, {0, 9}, {1, 4}});
    for (std::size_t o = 0; o < 3; ++o) {
      std::vector<std::int64_t> coefficients(3);
      coefficients[o] = 1;
      piece.outputs.push_back(linear_output(piece, o == 2 ? -1 : 0, coefficients));
      piece.outputs[o].distance_minimum = piece.outputs[o].distance_maximum = o == 2 ? 1 : 0;
    }
    ddg::Dependence dependence;
    dependence.from = dependence.to = 1;
    dependence.from_instruction = dependence.to_instruction = 1;
    dependence.carried = {0, 0, 40, 0};
    dependence.map = fold_of({piece});
    graph_.dependences.push_back(std::move(dependence));
    return graph_.dependences.back();
  }

  const profile::Profile& described() {
    const Context context = tree_.context();
    describe(graph_, context, tree_.profile);
    return tree_.profile;
  }

  Tree tree_;
  ddg::Graph graph_;
  structure::ContextId start_ = 0, outer_ = 0, inner_ = 0;
};

TEST_F(Nest, statements) {
  const profile::Profile& profile = described();
  EXPECT_TRUE(profile.folded);
  ASSERT_EQ(profile.statements.size(), 2u);
  EXPECT_EQ(profile.statements[0].name, "S0");
  EXPECT_TRUE(profile.statements[0].loops.empty());
  const profile::Statement& inner = profile.statements[1];
  EXPECT_EQ(inner.node, inner_);
  EXPECT_EQ(inner.loops, (std::vector<std::optional<std::uint32_t>>{outer_, inner_}));
  EXPECT_EQ(inner.source, (std::vector<profile::Source>{{"/src/hist.c", 11}, {"/src/hist.c", 12}}));
  EXPECT_EQ(inner.source_instructions, (std::vector<std::uint32_t>{1, 2})) << "one of the four has no line";
  ASSERT_TRUE(inner.code);
  EXPECT_EQ(profile.code[*inner.code].module, "hist");
  EXPECT_EQ(profile.code[*inner.code].function, "main");
  EXPECT_EQ(profile.code[*inner.code].addresses, (std::vector<std::uint64_t>{12, 11, 12, 150}));
  EXPECT_TRUE(inner.exact);
  EXPECT_EQ(inner.count, 50u);
  EXPECT_EQ(inner.ops, 200u);
  EXPECT_EQ(inner.edges, 3u);
  EXPECT_EQ(inner.domain.substr(0, 7), "{ S1[i0");
  EXPECT_TRUE(profile.gave_up.empty());
  EXPECT_TRUE(profile.quality.empty());
}

TEST_F(Nest, calls_have_names) {
  ddg::Statement call = statement(2, start_, fold_of({box_piece({{0, 0}})}), {109});
  call.kind = ddg::Statement::Kind::kSystemCall;
  call.detail = 1;
  graph_.statements.push_back(call);
  call.id = 3;
  call.kind = ddg::Statement::Kind::kAllocator;
  graph_.statements.push_back(call);
  const profile::Profile& profile = described();
  EXPECT_EQ(profile.statements[2].call, "write");
  EXPECT_EQ(profile.statements[2].ops, 0u);
  EXPECT_EQ(profile.statements[3].call, "calloc");
}

TEST_F(Nest, the_number_of_the_thread_is_shown_where_there_are_several) {
  tree_.tree[start_].entries = 2;
  load({row_piece()});
  const profile::Profile& profile = described();
  EXPECT_EQ(profile.statements[1].loops, (std::vector<std::optional<std::uint32_t>>{std::nullopt, outer_, inner_}));
  EXPECT_EQ(profile.accesses[0].coefficients, Coefficients({0, 0, 8}));
  EXPECT_EQ(profile.statements[0].domain, "{ S0[0] }");
}

TEST_F(Nest, accesses) {
  load({row_piece()});
  const profile::Access& access = described().accesses[0];
  EXPECT_EQ(access.coefficients, Coefficients({0, 8}));
  EXPECT_EQ(access.constant, 0);
  EXPECT_EQ(access.block_coefficients, Coefficients({1, 0}));
  EXPECT_EQ(access.block_constant, 0);
  EXPECT_EQ(access.minimum, 0);
  EXPECT_EQ(access.maximum, 32);
  EXPECT_EQ(access.block_maximum, 9);
  EXPECT_TRUE(access.affine);
  EXPECT_TRUE(access.exact);
  EXPECT_EQ(access.domain, std::nullopt);
  EXPECT_TRUE(access.pieces.empty());
  EXPECT_EQ(access.source, (profile::Source{"/src/hist.c", 12}));
}

TEST_F(Nest, an_access_of_its_own_domain) {
  fold::Piece half = box_piece({{0, 0}, {0, 4}, {0, 4}});
  half.outputs = {linear_output(half, 0, {0, 1, 0}), linear_output(half, 0, {0, 0, 8})};
  load({half}).guarded = true;
  const profile::Access& access = described().accesses[0];
  ASSERT_TRUE(access.domain);
  EXPECT_NE(access.domain->find("4"), std::string::npos);
  EXPECT_TRUE(access.guarded);
}

TEST_F(Nest, an_access_that_wraps_around_is_exact_but_not_affine) {
  fold::Piece row = row_piece();
  row.outputs[1].modulus = 16;
  row.outputs[1].maximum = 8;
  load({row});
  const profile::Access& access = described().accesses[0];
  EXPECT_EQ(access.coefficients, Coefficients({0, std::nullopt}));
  EXPECT_FALSE(access.affine);
  EXPECT_TRUE(access.exact);
  ASSERT_EQ(access.pieces.size(), 1u);
  EXPECT_EQ(access.pieces[0].modulus, 16);
  EXPECT_EQ(access.pieces[0].base, 0);
  EXPECT_EQ(access.pieces[0].coefficients, Coefficients({0, 8}));
  EXPECT_TRUE(described().gave_up.empty());
}

TEST_F(Nest, an_access_of_a_fraction_is_exact_but_not_affine) {
  fold::Piece row = row_piece();
  row.ranges[2].stride = 3;
  row.outputs[1].divisor = 3;
  load({row});
  const profile::Access& access = described().accesses[0];
  EXPECT_EQ(access.coefficients, Coefficients({0, std::nullopt}));
  EXPECT_FALSE(access.affine);
  EXPECT_TRUE(access.exact);
  ASSERT_EQ(access.pieces.size(), 1u);
  EXPECT_EQ(access.pieces[0].divisor, 3);
  EXPECT_EQ(access.pieces[0].block_divisor, 1);
  EXPECT_EQ(access.pieces[0].coefficients, Coefficients({0, 8}));
  EXPECT_TRUE(described().gave_up.empty());
}

TEST_F(Nest, no_address_of_the_run_gets_into_a_profile) {
  constexpr std::int64_t kAddress = 0x7ffe12345678;
  fold::Piece raw = piece();
  raw.outputs = {linear_output(raw, 0, {0, 0, 0}), linear_output(raw, kAddress, {0, 80, 8})};
  ddg::Access& access = load({raw});
  access.object = ddg::kUnknownObject;
  fold::Piece wrapped = raw;
  wrapped.outputs[1].modulus = 64;
  wrapped.outputs[1].base = kAddress;
  load({wrapped}).object = ddg::kUnknownObject;
  ddg::Value value;
  value.statement = 1;
  value.reg = 7;
  value.width = 8;
  fold::Piece pointer = piece();
  pointer.outputs = {linear_output(pointer, kAddress, {0, 80, 8})};
  value.value = fold_of({pointer});
  graph_.values.push_back(value);
  const profile::Profile& profile = described();
  EXPECT_EQ(profile.accesses[0].coefficients, Coefficients({80, 8}));
  EXPECT_TRUE(profile.accesses[0].affine);
  EXPECT_EQ(profile.values[0].coefficients, Coefficients({80, 8}));
  EXPECT_EQ(profile.values[0].reg, "rdi");
  const std::string text = profile::to_json_text(profile);
  EXPECT_EQ(text.find(std::to_string(kAddress).substr(0, 6)), std::string::npos);
  EXPECT_EQ(text.find("7ffe"), std::string::npos);
}

TEST_F(Nest, what_is_not_affine_is_named_with_its_share) {
  fold::Piece row = row_piece();
  row.outputs[1].top[2] = true;
  load({row});
  load({row}).instruction = 1;
  graph_.accesses[1].store = true;
  const profile::Profile& profile = described();
  EXPECT_EQ(profile.accesses[0].coefficients, Coefficients({0, std::nullopt}));
  EXPECT_EQ(profile.accesses[0].constant, std::nullopt);
  EXPECT_FALSE(profile.accesses[0].affine);
  EXPECT_FALSE(profile.accesses[0].exact);
  ASSERT_EQ(profile.gave_up.size(), 2u);
  EXPECT_EQ(profile.gave_up[0].what, "address of the load at hist.c:12");
  EXPECT_EQ(profile.gave_up[0].why, "not affine along the loop at hist.c:11");
  EXPECT_DOUBLE_EQ(profile.gave_up[0].share, 50 / 201.0);
  EXPECT_EQ(profile.gave_up[1].what, "address of the store at hist.c:11");
  ASSERT_EQ(profile.quality.size(), 1u);
  EXPECT_EQ(profile.quality[0].kind, "given up");
  EXPECT_DOUBLE_EQ(profile.quality[0].share, 100 / 201.0);
}

TEST_F(Nest, instructions_are_counted_once_and_lines_put_together) {
  fold::Piece row = row_piece();
  row.outputs[1].top[1] = true;
  load({row});
  load({row}).index = 1;
  load({row}).instruction = 2;
  const profile::Profile& profile = described();
  ASSERT_EQ(profile.gave_up.size(), 1u);
  EXPECT_EQ(profile.gave_up[0].what, "address of the load at hist.c:12");
  EXPECT_EQ(profile.gave_up[0].why, "not affine along the loop at hist.c:10");
  EXPECT_DOUBLE_EQ(profile.gave_up[0].share, 100 / 201.0);
}

TEST_F(Nest, without_lines_things_are_put_together_by_function) {
  fold::Piece top = row_piece();
  top.outputs[1].top[2] = true;
  load({top}).instruction = 3;
  load({top}).instruction = 3;
  graph_.accesses.back().store = true;
  const profile::Profile& profile = described();
  ASSERT_EQ(profile.gave_up.size(), 1u);
  EXPECT_EQ(profile.gave_up[0].what, "2 addresses in main (hist)");
  EXPECT_EQ(profile.gave_up[0].why, "not affine");
  EXPECT_DOUBLE_EQ(profile.gave_up[0].share, 50 / 201.0);
}

/// Each of many lines has an address that is not affine, in its own statement; a few are hot.
TEST_F(Nest, many_are_put_together_and_shares_stay_right) {
  constexpr std::uint32_t kLines = 70;
  fold::Piece top = row_piece();
  top.outputs[1].top[2] = true;
  for (std::uint32_t line = 20; line < 20 + kLines; ++line) {
    const ddg::StatementId id = static_cast<ddg::StatementId>(graph_.statements.size());
    graph_.statements.push_back(statement(id, inner_, graph_.statements[1].domain, {100 + line, 250}));
    load({top}).statement = id;
  }
  tree_.profile.program.instructions = kLines * 100;
  const profile::Profile& profile = described();
  ASSERT_EQ(profile.gave_up.size(), 26u);
  EXPECT_EQ(profile.gave_up[0].what, "45 addresses in main (hist)");
  EXPECT_DOUBLE_EQ(profile.gave_up[0].share, 45 * 50 / (kLines * 100.0));
  double sum = 0;
  for (const profile::GaveUp& entry : profile.gave_up) sum += entry.share;
  EXPECT_NEAR(sum, 0.5, 1e-9);
  EXPECT_EQ(profile.gave_up[1].what.substr(0, 28), "address of the load at hist.");
}

TEST_F(Nest, a_domain_that_was_given_up) {
  graph_.statements[1].domain.gave_up = true;
  graph_.statements[1].domain.pieces[0].exact_domain = false;
  graph_.statements[1].domain.why = "more than 9 intermediate polyhedra";
  const profile::Profile& profile = described();
  EXPECT_FALSE(profile.statements[1].exact);
  ASSERT_EQ(profile.gave_up.size(), 1u);
  EXPECT_EQ(profile.gave_up[0].what, "domain of hist.c:12");
  EXPECT_EQ(profile.gave_up[0].why, "would need more than 9 intermediate polyhedra");
  EXPECT_DOUBLE_EQ(profile.gave_up[0].share, 200 / 201.0);
}

TEST_F(Nest, dependences) {
  sum();
  const profile::Dependence& dependence = described().dependences[0];
  EXPECT_EQ(dependence.from, 1u);
  EXPECT_EQ(dependence.to, 1u);
  EXPECT_EQ(dependence.count, 40u);
  EXPECT_TRUE(dependence.affine);
  EXPECT_TRUE(dependence.exact);
  EXPECT_EQ(dependence.distance, Coefficients({0, 1}));
  EXPECT_EQ(dependence.object, std::nullopt);
  ASSERT_EQ(dependence.carried.size(), 1u);
  EXPECT_EQ(dependence.carried[0].node, inner_);
  EXPECT_EQ(dependence.carried[0].count, 40u);
  EXPECT_EQ(dependence.uses, (std::vector<profile::Use>{{1, 1, "register 0", 0, false}}));
  EXPECT_EQ(dependence.source_to, (profile::Source{"/src/hist.c", 11}));
  EXPECT_EQ(dependence.map, "{ S1[i0, o1] -> S1[i0, i1] : 0 <= i0 <= 9 and 1 <= i1 <= 4 and o1 = i1 - 1 }");
}

TEST_F(Nest, what_flows_in_the_same_way_is_one_dependence) {
  sum();
  sum().operand = 1;
  sum().lane = 8;
  sum().carried = {0, 40, 0, 0};
  const profile::Profile& profile = described();
  ASSERT_EQ(profile.dependences.size(), 2u);
  ASSERT_EQ(profile.dependences[0].uses.size(), 3u);
  EXPECT_EQ(profile.dependences[0].count, 40u);
  EXPECT_EQ(profile.dependences[0].uses[1].operand, "register 1");
  EXPECT_EQ(profile.dependences[0].uses[2].lane, 8u);
  EXPECT_EQ(profile.dependences[1].carried[0].node, outer_);
}

TEST_F(Nest, code_is_shared) {
  graph_.statements.push_back(statement(2, outer_, fold_of({box_piece({{0, 0}, {0, 9}})}), {109}));
  const profile::Profile& profile = described();
  EXPECT_EQ(profile.code.size(), 2u);
  EXPECT_EQ(profile.statements[2].code, profile.statements[0].code);
}

TEST_F(Nest, values_that_never_change_are_left_out) {
  for (const std::int64_t step : {0, 1}) {
    fold::Piece same = piece();
    same.outputs = {linear_output(same, 17, {0, 0, step})};
    ddg::Value value;
    value.statement = 1;
    value.width = 8;
    value.value = fold_of({same});
    graph_.values.push_back(value);
  }
  ASSERT_EQ(described().values.size(), 1u);
  EXPECT_EQ(described().values[0].coefficients, Coefficients({0, 1}));
}

TEST_F(Nest, pieces_of_an_access_are_its_functions) {
  const auto part = [](std::int64_t from, std::int64_t to, std::int64_t constant) {
    fold::Piece row = box_piece({{0, 0}, {from, to}, {0, 4}});
    row.outputs = {linear_output(row, 0, {0, 1, 0}), linear_output(row, constant, {0, 0, 8})};
    return row;
  };
  load({part(0, 2, 0), part(3, 3, 0), part(4, 9, 0)});
  load({part(0, 2, 0), part(3, 3, 16), part(4, 9, 0)});
  const profile::Profile& profile = described();
  EXPECT_TRUE(profile.accesses[0].pieces.empty());
  EXPECT_EQ(profile.accesses[0].constant, 0);
  ASSERT_EQ(profile.accesses[1].pieces.size(), 2u);
  EXPECT_EQ(profile.accesses[1].pieces[0].count, 45u);
  EXPECT_EQ(profile.accesses[1].pieces[0].domain,
            "{ S1[i0, i1] : 0 <= i0 <= 2 and 0 <= i1 <= 4; S1[i0, i1] : 4 <= i0 <= 9 and 0 <= i1 <= 4 }");
  EXPECT_EQ(profile.accesses[1].pieces[1].domain, "{ S1[3, i1] : 0 <= i1 <= 4 }");
}

TEST_F(Nest, a_distance_that_varies) {
  ddg::Dependence& dependence = sum();
  dependence.kind = ddg::Dependence::Kind::kMemory;
  dependence.object = 2;
  dependence.operand = ddg::kFirstMemoryOperand + 1;
  dependence.map.pieces[0].outputs[2].top[2] = true;
  dependence.map.pieces[0].outputs[2].distance_maximum = 3;
  dependence.map.widened = true;
  dependence.carried = {0, 0, 30, 10};
  const profile::Profile& profile = described();
  const profile::Dependence& shown = profile.dependences[0];
  EXPECT_EQ(shown.distance, Coefficients({0, std::nullopt}));
  EXPECT_EQ(shown.distance_minimum, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(shown.distance_maximum, (std::vector<std::int64_t>{0, 3}));
  EXPECT_FALSE(shown.affine);
  EXPECT_EQ(shown.object, 2u);
  ASSERT_EQ(shown.uses.size(), 1u);
  EXPECT_EQ(shown.uses[0].operand, "memory 1");
  ASSERT_EQ(shown.carried.size(), 2u);
  EXPECT_EQ(shown.carried[1].node, std::nullopt);
  EXPECT_EQ(profile.gave_up[0].what, "dependence hist.c:11 -> hist.c:11");
}

TEST_F(Nest, no_shared_loop_no_distance) {
  ddg::Dependence dependence;
  dependence.from = 0;
  dependence.to = 1;
  fold::Piece all = piece();
  all.outputs = {linear_output(all, 0, {0, 0, 0})};
  dependence.map = fold_of({all});
  dependence.carried = {0, 50};
  graph_.dependences.push_back(dependence);
  const profile::Dependence& shown = described().dependences[0];
  EXPECT_EQ(shown.distance, std::nullopt);
  ASSERT_EQ(shown.carried.size(), 1u);
  EXPECT_EQ(shown.carried[0].node, std::nullopt);
}

TEST_F(Nest, a_producer_that_is_not_known) {
  ddg::Dependence& dependence = sum();
  dependence.from = ddg::kNoStatement;
  dependence.map = {};
  dependence.map.points = 7;
  dependence.map.gave_up = true;
  dependence.map.why = "memory limit";
  dependence.carried = {7};
  graph_.gave_up.push_back({1, "accesses and dependences", "no room", 200});
  const profile::Profile& profile = described();
  const profile::Dependence& shown = profile.dependences[0];
  EXPECT_EQ(shown.from, std::nullopt);
  EXPECT_TRUE(shown.carried.empty());
  EXPECT_NE(shown.map.find("-> S1[i0"), std::string::npos) << shown.map;
  ASSERT_EQ(profile.gave_up.size(), 2u);
  EXPECT_EQ(profile.gave_up[0].what, "accesses and dependences at hist.c:12");
  EXPECT_EQ(profile.gave_up[1].what, "producer of what hist.c:11 reads");
  EXPECT_EQ(profile.gave_up[1].why, "memory limit");
}

TEST_F(Nest, objects_have_sources) {
  const profile::Profile& profile = described();
  ASSERT_EQ(profile.objects.size(), 3u);
  EXPECT_EQ(profile.objects[0].kind, profile::Object::Kind::kEnvironment);
  EXPECT_EQ(profile.objects[2].source, (profile::Source{"/src/hist.c", 7}));
  EXPECT_EQ(profile.objects[2].blocks, 10u);
}

TEST_F(Nest, quality) {
  tree_.tree[start_].entries = 2;
  sum().carried = {30, 0, 10, 0};
  graph_.statements[1].instructions[3].kinds = trace::kUnknown;
  ddg::Statement hidden = statement(2, start_, fold_of({box_piece({{0, 0}})}), {109});
  hidden.kind = ddg::Statement::Kind::kHidden;
  graph_.statements.push_back(hidden);
  graph_.damage = "cut off";
  const profile::Profile& profile = described();
  std::vector<std::string> kinds;
  for (const profile::Quality& quality : profile.quality) kinds.push_back(quality.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"partial", "hidden code", "unknown instructions", "cross-thread flow"}));
  EXPECT_DOUBLE_EQ(profile.quality[2].share, 50 / 201.0);
  EXPECT_DOUBLE_EQ(profile.quality[3].share, 30 / 201.0);
  EXPECT_TRUE(profile.program.partial);
}

TEST_F(Nest, statistics_of_folding) {
  load({row_piece()});
  fold::Piece top = row_piece();
  top.outputs[1].top[2] = true;
  load({top}).instruction = 1;
  for (std::uint16_t i = 0; i < 3; ++i) {
    ddg::Value value;
    value.statement = 1;
    value.instruction = i;
    fold::Piece all = piece();
    all.outputs = {linear_output(all, 0, {0, 0, 0})};
    value.value = fold_of({all});
    graph_.values.push_back(value);
  }
  sum();
  const FoldStatistics result = statistics(graph_);
  EXPECT_EQ(result.domains.points, 51u);
  EXPECT_EQ(result.accesses.points, 100u);
  EXPECT_EQ(result.accesses.affine_points, 50u);
  EXPECT_EQ(result.accesses.exact_streams, 1u);
  EXPECT_EQ(result.values.pieces, 3u);
  EXPECT_EQ(result.instructions.points, 250u);
  EXPECT_DOUBLE_EQ(result.instructions_affine_share, 100 / 150.0);  // 50 of one access, 50 of what accesses nothing
  EXPECT_EQ(result.dependences.affine_points, 40u);
}

}  // namespace
}  // namespace loopfold::poly
