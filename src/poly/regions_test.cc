#include "poly/regions.h"

#include <gtest/gtest.h>

#include "poly/testing.h"

namespace loopfold::poly {
namespace {

using profile::TreeNode;
using testing::box_piece;
using testing::fold_of;
using testing::linear_output;
using testing::statement;

fold::Folded box(const std::vector<std::pair<std::int64_t, std::int64_t>>& bounds) {
  return fold_of({box_piece(bounds)});
}

/// An access that moves by `step` bytes along the last coordinate of a box.
ddg::Access access(ddg::StatementId of, std::uint32_t size, const fold::Piece& domain, std::int64_t outer,
                   std::int64_t inner, bool store) {
  ddg::Access access;
  access.statement = of;
  access.size = size;
  access.store = store;
  access.object = 2;
  fold::Piece piece = domain;
  std::vector<std::int64_t> none(domain.ranges.size());
  std::vector<std::int64_t> steps(domain.ranges.size());
  steps[1] = outer;
  if (steps.size() > 2) steps[2] = inner;
  piece.outputs = {linear_output(piece, 0, none), linear_output(piece, 0, steps)};
  access.address = fold_of({piece});
  return access;
}

ddg::Dependence dependence(ddg::StatementId from, ddg::StatementId to, const fold::Piece& domain, bool exact) {
  ddg::Dependence dependence;
  dependence.from = from;
  dependence.to = to;
  fold::Piece piece = domain;
  for (std::size_t k = 0; k < domain.ranges.size(); ++k) {
    std::vector<std::int64_t> same(domain.ranges.size());
    same[k] = 1;
    piece.outputs.push_back(linear_output(piece, 0, same));
  }
  piece.exact_domain = exact;
  dependence.map = fold_of({piece});
  dependence.carried.assign(domain.ranges.size() + 1, 0);
  return dependence;
}

/// A start with two loops one after the other (hist.c:5 around hist.c:6, and hist.c:20 in two copies, with a call in
/// the first), with 60, 30 and 10 percent of the operations.
class RegionsTest : public ::testing::Test {
 protected:
  RegionsTest() {
    start_ = tree_.start(1);
    outer_ = tree_.loop(start_, 5);
    inner_ = tree_.loop(outer_, 6);
    copy_ = tree_.loop(start_, 21);
    called_ = tree_.call(copy_);
    rest_ = tree_.loop(start_, 20);
    set(0, 0, 1000);
    set(start_, 0, 1000);
    set(outer_, 100, 600);
    set(inner_, 500, 500);
    set(copy_, 250, 300);
    set(called_, 50, 50);
    set(rest_, 100, 100);
    tree_.profile.program.instructions = 1000;
    trip(outer_, 1, {10, 10, 10});
    trip(inner_, 10, {1, 10, 55});
    trip(copy_, 4, {8, 8, 32});
    trip(rest_, 2, {1, 3, 4});
    tree_.profile.tree[called_].call_site = profile::Source{"/src/hist.c", 23};
    tree_.profile.tree[called_].function = "rand";
    graph_.objects = testing::objects();
    const fold::Piece nest = box_piece({{0, 0}, {0, 9}, {0, 4}});
    const fold::Piece alone = box_piece({{0, 0}, {0, 9}});
    graph_.statements = {statement(0, outer_, fold_of({alone}), {105}),
                         statement(1, inner_, fold_of({nest}), {106, 107}),
                         statement(2, copy_, fold_of({alone}), {121}), statement(3, called_, fold_of({alone}), {300}),
                         statement(4, start_, box({{0, 0}}), {101})};
    graph_.accesses = {access(1, 8, nest, 40, 8, false), access(1, 8, nest, 0, 16, true)};
    graph_.dependences = {dependence(0, 1, alone, true), dependence(1, 1, nest, true), dependence(4, 2, alone, true),
                          dependence(2, 3, alone, false)};
    graph_.dependences[0].map = graph_.dependences[1].map;
    graph_.dependences[2].carried = {0, 0};
  }

  void set(structure::ContextId id, std::uint64_t self, std::uint64_t ops) {
    tree_.profile.tree[id].self_ops = self;
    tree_.profile.tree[id].ops = ops;
    tree_.profile.tree[id].mem_ops = ops / 2;
  }
  void trip(structure::ContextId id, std::uint64_t entries, const profile::Counts& counts) {
    tree_.profile.tree[id].entries = entries;
    tree_.profile.tree[id].trip = counts;
  }

  static LoopVerdict verdict(std::vector<structure::ContextId> loops, Parallel parallel) {
    LoopVerdict verdict;
    verdict.loop.loops = std::move(loops);
    verdict.parallel = parallel;
    return verdict;
  }

  std::vector<LoopVerdict> all() {
    return {verdict({outer_}, Parallel::kNo), verdict({inner_}, Parallel::kReduction),
            verdict({copy_, rest_}, Parallel::kYes)};
  }

  const profile::Profile& run(const std::vector<LoopVerdict>& verdicts, double min_percent = 1) {
    const Context context = tree_.context();
    describe(graph_, context, tree_.profile);
    describe_regions(graph_, verdicts, context, min_percent, tree_.profile);
    return tree_.profile;
  }

  testing::Tree tree_;
  ddg::Graph graph_;
  structure::ContextId start_, outer_, inner_, copy_, called_, rest_;
};

TEST_F(RegionsTest, outermost_loops_with_most_operations_first) {
  const profile::Profile& profile = run(all());
  EXPECT_TRUE(profile.judged);
  EXPECT_EQ(profile.regions_min_percent, 1);
  ASSERT_EQ(profile.regions.size(), 2u);
  const profile::Region& nest = profile.regions[0];
  EXPECT_EQ(nest.id, 0u);
  EXPECT_EQ(nest.node, outer_);
  EXPECT_EQ(nest.source->line, 5);
  EXPECT_DOUBLE_EQ(nest.ops_percent, 60);
  EXPECT_DOUBLE_EQ(nest.mem_percent, 50);
  EXPECT_FALSE(nest.interprocedural);
  EXPECT_EQ(nest.depth_binary, 2u);
  EXPECT_EQ(nest.depth_source, 2u);
  ASSERT_EQ(nest.loops.size(), 2u);
  EXPECT_EQ(nest.loops[0].depth, 0u);
  EXPECT_EQ(nest.loops[1].depth, 1u);
  EXPECT_EQ(nest.loops[1].node, inner_);
  EXPECT_DOUBLE_EQ(nest.loops[1].ops_percent, 50);
  EXPECT_EQ(nest.loops[0].parallel, profile::Loop::Parallel::kNo);
  EXPECT_EQ(nest.loops[1].parallel, profile::Loop::Parallel::kReduction);
  EXPECT_EQ(nest.loops[1].trip, (profile::Trip{1, 10, 5.5}));
  EXPECT_EQ(nest.loops[1].reuse, profile::Loop::Reuse::kUnknown);
}

TEST_F(RegionsTest, copies_are_one_loop) {
  const profile::Profile& profile = run(all());
  const profile::Region& region = profile.regions[1];
  EXPECT_DOUBLE_EQ(region.ops_percent, 40);
  EXPECT_TRUE(region.interprocedural);
  EXPECT_EQ(region.source->line, 20) << "the head of a loop stands before its body";
  ASSERT_EQ(region.loops.size(), 1u);
  EXPECT_EQ(region.loops[0].nodes, (std::vector<std::uint32_t>{copy_, rest_}));
  EXPECT_EQ(region.loops[0].node, copy_);
  EXPECT_EQ(region.loops[0].trip, (profile::Trip{1, 11, 9}));
  EXPECT_EQ(region.loops[0].parallel, profile::Loop::Parallel::kYes);
}

TEST_F(RegionsTest, statements_and_dependences_are_counted) {
  const profile::Profile& profile = run(all());
  EXPECT_EQ(profile.regions[0].vertices, 2u);
  EXPECT_EQ(profile.regions[0].edges, 2u);
  EXPECT_EQ(profile.regions[1].vertices, 2u);
  EXPECT_EQ(profile.regions[1].edges, 1u) << "what comes from outside is no edge of the region";
}

/// 10 + 2 * 50 of 600 operations in statements, all of them exact; of 400, 10, since the call's dependence is not.
TEST_F(RegionsTest, affine_is_what_is_exact_in_everything) {
  const profile::Profile& profile = run(all());
  EXPECT_DOUBLE_EQ(profile.regions[0].affine_percent, 100.0 * 110 / 600);
  EXPECT_DOUBLE_EQ(profile.regions[1].affine_percent, 100.0 * 10 / 400);
}

TEST_F(RegionsTest, an_inexact_access_or_producer_is_not_affine) {
  graph_.accesses[1].address.pieces[0].exact_domain = false;
  graph_.accesses[1].address.gave_up = true;
  graph_.statements[2].followed = false;
  const profile::Profile& profile = run(all());
  EXPECT_DOUBLE_EQ(profile.regions[0].affine_percent, 100.0 * 10 / 600);
  EXPECT_DOUBLE_EQ(profile.regions[1].affine_percent, 0);
}

/// Along the inner loop, one of two accesses moves by its size; along the outer one, one stays where it is.
TEST_F(RegionsTest, strides) {
  const profile::Profile& profile = run(all());
  EXPECT_DOUBLE_EQ(profile.regions[0].loops[1].stride01_percent, 50);
  EXPECT_DOUBLE_EQ(profile.regions[0].loops[0].stride01_percent, 50);
  EXPECT_DOUBLE_EQ(profile.regions[1].loops[0].stride01_percent, 100) << "no accesses";
}

TEST_F(RegionsTest, an_access_that_changes_its_block_is_not_near) {
  fold::Piece& piece = graph_.accesses[0].address.pieces[0];
  piece.outputs[0] = linear_output(piece, 0, {0, 0, 1});
  graph_.accesses[1].address = graph_.accesses[0].address;
  EXPECT_DOUBLE_EQ(run(all()).regions[0].loops[1].stride01_percent, 0);
}

TEST_F(RegionsTest, small_loops_are_no_regions) { EXPECT_EQ(run(all(), 50).regions.size(), 1u); }

TEST_F(RegionsTest, what_must_be_judged) {
  const Context context = tree_.context();
  const std::vector<SourceLoop> loops = {{{outer_}}, {{inner_}}, {{copy_, rest_}}};
  const auto count = [&](double percent) { return loops_in_regions(loops, context, percent, tree_.profile).size(); };
  EXPECT_EQ(count(0), 3u);
  EXPECT_EQ(count(40), 3u) << "copies count together";
  EXPECT_EQ(count(41), 2u) << "the inner loop is in a region, whatever its own share";
  EXPECT_EQ(count(60), 2u);
  EXPECT_EQ(count(61), 0u);
}

TEST_F(RegionsTest, contexts_of_one_node_are_one_loop_with_the_worst_verdict) {
  std::vector<LoopVerdict> verdicts = all();
  verdicts.push_back(verdict({rest_}, Parallel::kUnknown));
  verdicts.back().doubts.push_back({"why", {}, 3});
  const profile::Profile& profile = run(verdicts);
  ASSERT_EQ(profile.regions[1].loops.size(), 1u);
  EXPECT_EQ(profile.regions[1].loops[0].parallel, profile::Loop::Parallel::kUnknown);
  EXPECT_EQ(profile.regions[1].loops[0].nodes.size(), 2u);
  ASSERT_EQ(profile.regions[1].loops[0].unknown.size(), 1u);
  EXPECT_EQ(profile.regions[1].loops[0].unknown[0].count, 3u);
}

TEST_F(RegionsTest, a_nested_copy_of_one_source_loop_is_one_level_of_the_source) {
  TreeNode& outer = tree_.profile.tree[outer_];
  TreeNode& inner = tree_.profile.tree[inner_];
  outer.depth_binary = outer.depth_source = inner.depth_source = 1;
  inner.depth_binary = 2;
  EXPECT_EQ(run(all()).regions[0].depth_source, 1u);
  EXPECT_EQ(tree_.profile.regions[0].depth_binary, 2u);
}

// ---- reasons ----

class ReasonsTest : public RegionsTest {
 protected:
  profile::Loop loop(const LoopVerdict& verdict) {
    std::vector<LoopVerdict> verdicts = all();
    verdicts[1] = verdict;
    verdicts[1].loop.loops = {inner_};
    return run(verdicts).regions[0].loops[1];
  }
  std::string text(const Blocking& blocking) {
    LoopVerdict verdict;
    verdict.blocking = {blocking};
    return loop(verdict).blocking.at(0).text;
  }
};

TEST_F(ReasonsTest, memory) {
  Blocking blocking{Blocking::Kind::kMemory, {1, 1}, {1, 0}, 2, 1, 1, 1234};
  LoopVerdict verdict;
  verdict.blocking = {blocking};
  const profile::Blocking found = loop(verdict).blocking.at(0);
  EXPECT_EQ(found.kind, profile::Blocking::Kind::kMemory);
  EXPECT_EQ(found.source_from->line, 7);
  EXPECT_EQ(found.source_to->line, 6);
  EXPECT_EQ(found.object, 2u);
  EXPECT_EQ(found.distance, 1);
  EXPECT_EQ(found.direction, "<");
  EXPECT_EQ(found.text, "hist.c:6 reads what hist.c:7 wrote 1 iteration before: malloc in rows (1,234 times)");
}

TEST_F(ReasonsTest, a_distance_that_varies_has_bounds) {
  LoopVerdict verdict;
  verdict.blocking = {{Blocking::Kind::kRegister, {1, 0}, {1, 0}, ddg::kUnknownObject, 1, 8, 2}};
  const profile::Blocking found = loop(verdict).blocking.at(0);
  EXPECT_EQ(found.distance, std::nullopt);
  EXPECT_EQ(found.least, 1);
  EXPECT_EQ(found.greatest, 8);
  EXPECT_EQ(found.object, std::nullopt);
  EXPECT_EQ(found.text, "hist.c:6 uses what it computed 1 to 8 iterations before (2 times)");
}

TEST_F(ReasonsTest, a_distance_that_is_not_known_has_none) {
  LoopVerdict verdict;
  verdict.blocking = {{Blocking::Kind::kMemory, {1, 0}, {1, 0}, ddg::kUnknownObject, 0, 0, 1}};
  const profile::Blocking found = loop(verdict).blocking.at(0);
  EXPECT_EQ(found.distance, std::nullopt);
  EXPECT_EQ(found.least, std::nullopt);
  EXPECT_EQ(found.text, "hist.c:6 reads what it wrote in an earlier iteration (once)");
}

TEST_F(ReasonsTest, exits) {
  EXPECT_EQ(text({Blocking::Kind::kExit, {1, 1}, {}, ddg::kUnknownObject, 1, 1, 9}),
            "hist.c:7: data decide whether the loop goes on (9 times)");
}

TEST_F(ReasonsTest, turns) {
  EXPECT_EQ(text({Blocking::Kind::kTurn, {1, 0}, {1, 1}, ddg::kUnknownObject, 0, 0, 9}),
            "hist.c:7 hands on values from before the loop in turns (9 times)");
}

TEST_F(ReasonsTest, an_exit_has_one_line) {
  LoopVerdict verdict;
  verdict.blocking = {{Blocking::Kind::kExit, {1, 1}, {}, ddg::kUnknownObject, 1, 1, 9}};
  const profile::Blocking found = loop(verdict).blocking.at(0);
  EXPECT_EQ(found.kind, profile::Blocking::Kind::kControl);
  EXPECT_EQ(found.source_from->line, 7);
  EXPECT_EQ(found.source_to, std::nullopt);
}

TEST_F(ReasonsTest, system_calls_and_places_without_lines) {
  graph_.statements[3].kind = ddg::Statement::Kind::kSystemCall;
  graph_.statements[3].detail = 1;
  LoopVerdict verdict;
  verdict.blocking = {{Blocking::Kind::kEnvironment, {3, 0}, {3, 0}, 0, 1, 1, 5}};
  const profile::Blocking found = loop(verdict).blocking.at(0);
  EXPECT_EQ(found.kind, profile::Blocking::Kind::kEnvironment);
  EXPECT_EQ(found.source_to->line, 23);
  EXPECT_EQ(found.text, "rand called at hist.c:23: write(2) must keep its order (5 times)");
}

TEST_F(ReasonsTest, without_any_line_code_is_named_by_file_and_address) {
  tree_.profile.tree[called_].call_site.reset();
  EXPECT_EQ(text({Blocking::Kind::kRegister, {3, 0}, {3, 0}, ddg::kUnknownObject, 2, 2, 5}),
            "hist+0xc8 uses what it computed 2 iterations before (5 times)");
}

TEST_F(ReasonsTest, the_same_dependence_is_said_once) {
  LoopVerdict verdict;
  const Blocking small{Blocking::Kind::kMemory, {1, 1}, {1, 0}, 2, 1, 1, 3};
  const Blocking other{Blocking::Kind::kMemory, {1, 1}, {1, 0}, 2, 2, 2, 5};
  verdict.blocking = {other, small, small};
  const profile::Loop found = loop(verdict);
  ASSERT_EQ(found.blocking.size(), 2u);
  EXPECT_EQ(found.blocking[0].count, 6u);
  EXPECT_EQ(found.blocking[0].distance, 1);
  EXPECT_EQ(found.blocking[1].count, 5u);
}

TEST_F(ReasonsTest, reductions_reloads_assumptions_and_doubts) {
  LoopVerdict verdict;
  verdict.reductions = {{trace::Associative::kSubtract, true, false, {1, 1}, 2, true},
                        {trace::Associative::kMax, false, true, {1, 0}, 2, false}};
  verdict.reload = {{1, 0}, {1, 0}, {1, 1}};
  verdict.assumes = {{1, 1}};
  verdict.doubts = {{"another thread", {1, 0}, 4}, {"a pause", {}, 0}};
  const profile::Loop found = loop(verdict);
  const profile::Source six{"/src/hist.c", 6};
  const profile::Source seven{"/src/hist.c", 7};
  EXPECT_EQ(found.reductions, (std::vector<profile::Reduction>{{"+", "malloc in rows", true, false, seven},
                                                               {"max", "", false, true, six}}));
  EXPECT_EQ(found.reload, (std::vector<profile::Touched>{{six, 2}, {seven, std::nullopt}}));
  EXPECT_EQ(found.assumes, std::vector<profile::Assumption>{{seven}});
  ASSERT_EQ(found.unknown.size(), 2u);
  EXPECT_EQ(found.unknown[0].source, six);
  EXPECT_EQ(found.unknown[1].source, std::nullopt);
}

}  // namespace
}  // namespace loopfold::poly
