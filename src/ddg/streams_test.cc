// Streams by hand: which are told apart, what is counted, and what the memory limit does.
#include "ddg/streams.h"

#include <gtest/gtest.h>

#include <random>

namespace loopfold::ddg {
namespace {

using structure::Context;

/// main { loop { loop } }, and a start of threads with a loop.
class StreamsTest : public testing::Test {
 protected:
  StreamsTest() {
    start = child(Context::Kind::kStart, structure::LoopTree::root(), 0);
    outer = child(Context::Kind::kLoop, start, 1);
    inner = child(Context::Kind::kLoop, outer, 2);
  }

  structure::ContextId child(Context::Kind kind, structure::ContextId parent, structure::LoopId loop) {
    structure::ContextKey key;
    key.kind = kind;
    key.parent = parent;
    key.loop = loop;
    return tree.child(key, loop, 0);
  }

  static Streams::SiteKey key(structure::ContextId context, structure::NodeId node, std::uint64_t stack = 0) {
    return {Statement::Kind::kCode, context, 0, node, 0, stack};
  }

  static Streams::Reader reader(SiteId site, std::uint16_t lane = 0) {
    Streams::Reader r;
    r.site = site;
    r.operand = kFirstMemoryOperand;
    r.lane = lane;
    r.kind = Dependence::Kind::kMemory;
    return r;
  }

  Graph finish(Streams& streams) {
    Graph graph;
    streams.finish(graph, structure::CodeMap({}, {}, {}), {});
    return graph;
  }

  structure::LoopTree tree;
  structure::ContextId start = 0;
  structure::ContextId outer = 0;
  structure::ContextId inner = 0;
};

TEST_F(StreamsTest, WhatWasGivenUpIsCoveredByTheStatement) {
  Streams streams({}, tree);
  const SiteId site = streams.site(key(inner, 3), 0, 2);
  std::mt19937 random(7);
  for (std::int64_t i = 0; i < 30; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const std::int64_t point[] = {0, i, j};
      streams.instance(site, point);
      if (random() % 3 == 0) streams.dependence(reader(site), streams.definition(site, 0), point, point);
    }
  const Graph graph = finish(streams);
  ASSERT_EQ(graph.dependences.size(), 1u);
  const fold::Folded& map = graph.dependences[0].map;
  ASSERT_TRUE(map.gave_up);
  ASSERT_EQ(map.pieces.size(), 1u);
  EXPECT_FALSE(map.pieces[0].exact_domain);
  EXPECT_TRUE(graph.statements[0].domain.exact());
  EXPECT_EQ(map.pieces[0].ranges, graph.statements[0].domain.pieces[0].ranges) << "the triangle";
}

TEST_F(StreamsTest, CarriedByTheFirstLoopThatDiffers) {
  Streams streams({}, tree);
  const SiteId site = streams.site(key(inner, 3), 0, 2);
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      const std::int64_t point[] = {0, i, j};
      streams.instance(site, point);
      if (j > 0) {
        const std::int64_t producer[] = {0, i, j - 1};
        streams.dependence(reader(site), streams.definition(site, 1), point, producer);
      } else if (i > 0) {
        const std::int64_t producer[] = {0, i - 1, 4};
        streams.dependence(reader(site), streams.definition(site, 1), point, producer);
      }
    }
  }
  const Graph graph = finish(streams);
  ASSERT_EQ(graph.dependences.size(), 1u);
  const Dependence& dependence = graph.dependences[0];
  EXPECT_EQ(dependence.carried, (std::vector<std::uint64_t>{0, 3, 16, 0}));
  EXPECT_EQ(dependence.from_instruction, 1);
  EXPECT_EQ(dependence.map.points, 19u);
  EXPECT_EQ(graph.statements[0].count, 20u);
  EXPECT_TRUE(graph.statements[0].domain.exact());
}

TEST_F(StreamsTest, OnlyWhatBothAreInIsShared) {
  Streams streams({}, tree);
  const SiteId producer = streams.site(key(start, 1), 0, 1);
  const SiteId consumer = streams.site(key(inner, 3), 0, 1);
  const std::int64_t from[] = {0};
  const std::int64_t to[] = {0, 2, 3};
  streams.instance(producer, from);
  streams.instance(consumer, to);
  streams.dependence(reader(consumer), streams.definition(producer, 0), to, from);
  const Graph graph = finish(streams);
  EXPECT_EQ(graph.dependences[0].carried, (std::vector<std::uint64_t>{0, 1}));
}

TEST_F(StreamsTest, LanesAndProducersAreStreamsOfTheirOwn) {
  Streams streams({}, tree);
  const SiteId site = streams.site(key(outer, 1), 0, 3);
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::int64_t point[] = {0, i};
    streams.instance(site, point);
    for (std::uint16_t lane = 0; lane < 16; lane += 8)
      for (std::uint16_t from = 0; from < 3; ++from)
        streams.dependence(reader(site, lane), streams.definition(site, from), point, point);
  }
  const Graph graph = finish(streams);
  ASSERT_EQ(graph.dependences.size(), 6u);
  for (const Dependence& dependence : graph.dependences) EXPECT_EQ(dependence.map.points, 10u);
}

/// Threads that take turns: one statement, as if one had run after the other.
TEST_F(StreamsTest, StacksBesideEachOtherAreUnited) {
  Streams streams({}, tree);
  const SiteId sites[] = {streams.site(key(outer, 1, 0), 0, 1), streams.site(key(outer, 1, 1), 0, 1)};
  for (std::int64_t i = 0; i < 10; ++i) {
    for (std::int64_t stack = 0; stack < 2; ++stack) {
      const std::int64_t point[] = {stack, i};
      streams.instance(sites[stack], point);
    }
  }
  const Graph graph = finish(streams);
  ASSERT_EQ(graph.statements.size(), 1u);
  EXPECT_EQ(graph.statements[0].count, 20u);
  EXPECT_TRUE(graph.statements[0].domain.exact());
  EXPECT_EQ(graph.statements[0].domain.pieces.size(), 1u);
}

/// Only what another stack produced is asked for; the reader's coordinates are counted one by one.
TEST_F(StreamsTest, LateFlowIsCountedByCoordinate) {
  Streams streams({}, tree);
  const SiteId sites[] = {streams.site(key(outer, 1, 0), 0, 1), streams.site(key(outer, 1, 1), 0, 1)};
  const std::int64_t first[] = {0, 4};
  const std::int64_t second[] = {1, 5};
  const std::int64_t third[] = {1, 6};
  streams.instance(sites[0], first);
  streams.instance(sites[1], second);
  streams.instance(sites[1], third);
  EXPECT_TRUE(streams.dependence(reader(sites[1]), streams.definition(sites[0], 0), second, first));
  streams.late(1);
  EXPECT_TRUE(streams.dependence(reader(sites[1]), streams.definition(sites[0], 0), third, first));
  streams.late(0);
  streams.late(1);
  EXPECT_FALSE(streams.dependence(reader(sites[1]), streams.definition(sites[1], 0), third, second));
  const Graph graph = finish(streams);
  ASSERT_EQ(graph.dependences.size(), 1u);
  EXPECT_EQ(graph.dependences[0].late, (std::vector<std::uint64_t>{1, 2}));
}

/// Of what is not kept, producers are statements that nothing is known of, and the rest is counted.
TEST_F(StreamsTest, CodeThatIsNotKept) {
  std::vector<bool> hot(tree.contexts().size());
  hot[outer] = true;
  Streams streams({}, tree, 1, hot);
  PartCode code;
  code.instructions = 3;
  const SiteId consumer = streams.site(key(outer, 1), 0, 1);
  const SiteId producer = streams.site(key(inner, 2), 0, 3);
  const SiteId other = streams.site(key(inner, 3), 0, 3);
  const std::int64_t from[] = {0, 1, 2};
  const std::int64_t to[] = {0, 2};
  for (const SiteId site : {producer, other}) {
    streams.set_code(site, &code);
    streams.instance(site, from);
  }
  streams.instance(consumer, to);
  streams.dependence(reader(consumer), streams.definition(producer, 1), to, from);
  Graph graph;
  std::vector<trace::Block> blocks(1);
  blocks[0].lengths = {1, 1, 1};
  streams.finish(graph, structure::CodeMap(blocks, {}, {}), {std::vector<trace::InstructionFacts>(3)});
  ASSERT_EQ(graph.statements.size(), 2u);
  EXPECT_TRUE(graph.statements[0].followed);
  EXPECT_FALSE(graph.statements[1].followed);
  EXPECT_EQ(graph.unkept_instructions, 3u);
}

/// What is largest is given up first; what is small stays exact.
TEST_F(StreamsTest, TheLimitTakesTheLargestFirst) {
  fold::Options options;
  options.variant = fold::Variant::kF;
  Streams streams(options, tree);
  const SiteId site = streams.site(key(outer, 1), 0, 1);
  std::mt19937_64 random(1);
  IntegerValue regular;
  IntegerValue irregular;
  irregular.index = 1;
  irregular.dense = 1;
  for (std::int64_t i = 0; i < 20000; ++i) {
    const std::int64_t point[] = {0, i};
    streams.instance(site, point);
    streams.value(site, regular, point, 3 * i, 0);
    streams.value(site, irregular, point, static_cast<std::int64_t>(random() % 1000), 0);
  }
  const std::uint64_t before = streams.bytes();
  ASSERT_GT(before, 200000u);
  streams.limit(before / 4);
  EXPECT_LE(streams.bytes(), before / 4);
  const Graph graph = finish(streams);
  ASSERT_EQ(graph.values.size(), 2u);
  EXPECT_TRUE(graph.values[0].value.exact());
  EXPECT_FALSE(graph.values[1].value.exact());
  EXPECT_EQ(graph.values[1].value.why, "memory limit");
  EXPECT_TRUE(graph.statements[0].domain.exact());
}

/// Only streams that got something since the last time are asked what they need, however they got it.
TEST_F(StreamsTest, WhatStreamsNeedIsUpToDate) {
  Streams often({}, tree);
  Streams once({}, tree);
  std::mt19937_64 random(1);
  for (Streams* const streams : {&often, &once}) streams->site(key(outer, 1), 0, 1);
  const SiteId site = often.site(key(outer, 1), 0, 1);
  IntegerValue value;
  MemoryAccess access;
  for (std::int64_t i = 0; i < 2000; ++i) {
    const std::uint64_t way = random() % 5;
    value.dense = static_cast<std::uint32_t>(random() % 100);
    const std::int64_t point[] = {0, 4 * i};
    const std::int64_t points[] = {0, 4 * i, 0, 4 * i + 1, 0, 4 * i + 3};
    const std::int64_t labels[] = {static_cast<std::int64_t>(random() % 1000), 3, static_cast<std::int64_t>(i)};
    const std::uint64_t entries[] = {0, 0, 0};
    const auto object = static_cast<ObjectId>(random() % 100);
    for (Streams* const streams : {&often, &once}) {
      if (way == 0) streams->value(site, value, point, labels[0], 0);
      if (way == 1) streams->value_run(site, value, point, labels[0], 7, 3, 0);
      if (way == 2) streams->values(streams->locate(site), value, {points, entries, 3, true}, labels);
      if (way == 3) streams->access(streams->locate(site), access, point, object, 0, labels[0], 0, false);
      if (way == 4) streams->instances(streams->locate(site), {points, entries, 3, true});
    }
    if (i % 7 == 0) static_cast<void>(often.bytes());
  }
  const std::uint64_t before = often.bytes();
  EXPECT_EQ(before, once.bytes());
  const std::uint64_t left = often.limit(before / 2);
  EXPECT_LT(left, before);
  EXPECT_EQ(often.bytes(), left);
}

/// With no room at all, what could not be kept is something, not nothing.
TEST_F(StreamsTest, DependencesWithoutRoomAreOnSomethingUnknown) {
  Streams streams({}, tree);
  const SiteId site = streams.site(key(outer, 1), 0, 1);
  const std::int64_t first[] = {0, 0};
  streams.instance(site, first);
  streams.limit(0);
  const std::int64_t second[] = {0, 1};
  streams.instance(site, second);
  streams.dependence(reader(site), streams.definition(site, 0), second, first);
  const Graph graph = finish(streams);
  EXPECT_EQ(graph.statements[0].count, 2u);
  ASSERT_EQ(graph.dependences.size(), 1u);
  EXPECT_EQ(graph.dependences[0].from, kNoStatement);
  EXPECT_EQ(graph.dependences[0].map.points, 1u);
  ASSERT_EQ(graph.gave_up.size(), 1u);
  EXPECT_EQ(graph.gave_up[0].statement, 0u);
}

TEST_F(StreamsTest, OperandsWithTooManyProducersKeepCounting) {
  Streams streams({}, tree);
  const SiteId consumer = streams.site(key(outer, 1), 0, 1);
  const SiteId producers = streams.site(key(start, 1), 0, 6000);
  const std::int64_t from[] = {0};
  streams.instance(producers, from);
  for (std::int64_t i = 0; i < 6000; ++i) {
    const std::int64_t to[] = {0, i};
    streams.instance(consumer, to);
    streams.dependence(reader(consumer), streams.definition(producers, static_cast<std::uint16_t>(i)), to, from);
  }
  const Graph graph = finish(streams);
  std::uint64_t points = 0;
  std::uint64_t unknown = 0;
  for (const Dependence& dependence : graph.dependences) {
    points += dependence.map.points;
    if (dependence.from == kNoStatement) unknown += dependence.map.points;
  }
  EXPECT_EQ(points, 6000u);
  EXPECT_GT(unknown, 0u);
  EXPECT_LT(unknown, 3000u);
}

/// A context that is not kept produces values, and has no streams of its own.
TEST_F(StreamsTest, ColdCodeIsAProducerOnly) {
  std::vector<bool> hot(tree.contexts().size(), true);
  hot[outer] = false;
  Streams streams({}, tree, 1, hot);
  const SiteId cold = streams.site(key(outer, 1), 0, 1);
  const SiteId silent = streams.site(key(outer, 2), 0, 1);
  const SiteId kept = streams.site(key(inner, 1), 0, 1);
  EXPECT_TRUE(streams.cold(cold));
  EXPECT_FALSE(streams.cold(kept));
  for (std::int64_t i = 2; i < 6; ++i) {
    const std::int64_t from[] = {0, i};
    const std::int64_t to[] = {0, i, 0};
    streams.instance(cold, from);
    streams.instance(silent, from);
    streams.dependence(reader(cold), streams.definition(kept, 0), from, to);
    streams.instance(kept, to);
    streams.dependence(reader(kept), streams.definition(cold, 0), to, from);
  }
  const Graph graph = finish(streams);
  ASSERT_EQ(graph.statements.size(), 2u);
  EXPECT_EQ(graph.statements[0].context, outer);
  EXPECT_EQ(graph.statements[0].count, 4u);
  ASSERT_EQ(graph.statements[0].domain.pieces.size(), 1u);
  const fold::Piece& box = graph.statements[0].domain.pieces[0];
  EXPECT_FALSE(box.exact_domain);
  EXPECT_EQ(box.ranges[1].lower.constant, 2);
  EXPECT_EQ(box.ranges[1].upper.constant, 5);
  EXPECT_TRUE(graph.statements[1].domain.exact());
  ASSERT_EQ(graph.dependences.size(), 1u);
  EXPECT_EQ(graph.dependences[0].from, 0u);
  EXPECT_EQ(graph.dependences[0].to, 1u);
  ASSERT_EQ(graph.gave_up.size(), 1u);
  EXPECT_EQ(graph.gave_up[0].what, "code that ran little: 2 statements");
}

TEST_F(StreamsTest, AccessesInTooManyObjectsAreGivenUp) {
  Streams streams({}, tree);
  const SiteId site = streams.site(key(outer, 1), 0, 1);
  MemoryAccess access;
  access.size = 8;
  for (std::int64_t i = 0; i < 200; ++i) {
    const std::int64_t point[] = {0, i};
    streams.instance(site, point);
    streams.access(site, access, point, static_cast<ObjectId>(10 + i), 0, 8, 1);
  }
  const Graph graph = finish(streams);
  std::uint64_t points = 0;
  for (const Access& a : graph.accesses) {
    points += a.address.points;
    EXPECT_EQ(a.object == kUnknownObject, a.address.gave_up);
  }
  EXPECT_EQ(points, 200u);
  EXPECT_LE(graph.accesses.size(), 65u);
}

}  // namespace
}  // namespace loopfold::ddg
