// Uses by hand: which are records, and what is counted.
#include "ddg/origin_records.h"

#include <gtest/gtest.h>

namespace loopfold::ddg {
namespace {

using structure::Context;
using Counts = std::vector<std::uint64_t>;

/// main { producer; loop { reader } }.
class OriginRecordsTest : public testing::Test {
 protected:
  OriginRecordsTest() {
    structure::ContextKey key;
    key.kind = Context::Kind::kStart;
    key.parent = structure::LoopTree::root();
    start = tree.child(key, 0, 0);
    key.kind = Context::Kind::kLoop;
    key.parent = start;
    key.loop = 1;
    loop = tree.child(key, 1, 0);
    producer = streams.site({Statement::Kind::kCode, start, 0, 1, 0, 0}, 0, 4);
    reader = streams.site({Statement::Kind::kCode, loop, 0, 2, 0, 0}, 0, 4);
    outer_entry = entries.add(kNoEntry, 0, 1);
    inner_entry = entries.add(outer_entry, 0, 2);
    const std::int64_t first[] = {0};
    streams.instance(producer, first);
  }

  Cell outside(std::uint16_t instruction) { return {streams.definition(producer, instruction), outer_entry, 0}; }
  Cell inside(std::uint16_t instruction, std::uint64_t counter) {
    return {streams.definition(reader, instruction), inner_entry, counter};
  }
  void at(std::uint64_t counter) {
    point[1] = static_cast<std::int64_t>(counter);
    streams.instance(reader, point);
    who = {&records.uses(reader, 1), reader, inner_entry, counter, 1, point, 3, 0, 0};
  }
  Graph finish() {
    Graph graph;
    streams.finish(graph, structure::CodeMap({}, {}, {}), {});
    records.finish(graph);
    return graph;
  }
  static Provenance loaded(const Cell& origin, std::uint64_t address) {
    Provenance provenance;
    provenance.origin = origin;
    provenance.load = true;
    provenance.address = address;
    provenance.size = 8;
    return provenance;
  }

  structure::LoopTree tree;
  Streams streams{{}, tree};
  Entries entries;
  ShadowMemory memory;
  OriginRecords records{streams, tree, entries, memory};
  structure::ContextId start = 0;
  structure::ContextId loop = 0;
  SiteId producer = 0;
  SiteId reader = 0;
  EntryId outer_entry = 0;
  EntryId inner_entry = 0;
  std::int64_t point[2] = {0, 0};
  OriginRecords::Reader who;
};

TEST_F(OriginRecordsTest, DirectUsesAreNoRecords) {
  at(0);
  records.use(who, 0, outside(1), {outside(1), false, nullptr});
  records.use(who, 0, inside(2, 0), {inside(1, 0), false, nullptr});
  EXPECT_TRUE(finish().origins.empty());
}

TEST_F(OriginRecordsTest, TheOriginIsCountedByLevel) {
  for (std::uint64_t i = 1; i < 6; ++i) {
    at(i);
    records.use(who, 0, inside(2, i), {inside(1, i < 3 ? i - 1 : i - 2), false, nullptr});
  }
  const Graph graph = finish();
  ASSERT_EQ(graph.origins.size(), 1u);
  const Origin& origin = graph.origins[0];
  EXPECT_EQ(origin.carried, (Counts{0, 5, 0}));
  EXPECT_EQ(origin.least[1], 1);
  EXPECT_EQ(origin.greatest[1], 2);
  EXPECT_TRUE(origin.local);
  EXPECT_EQ(origin.from_instruction, 1);
  EXPECT_EQ(origin.by_instruction, 2);
  EXPECT_EQ(origin.turns, (Counts{0, 0}));
}

/// t = a; a = b; b = t: what is read comes from before the loop, by turns.
TEST_F(OriginRecordsTest, Turns) {
  at(0);
  records.use_directly(who, 0, outside(0));
  for (std::uint64_t i = 1; i < 5; ++i) {
    at(i);
    const auto from = static_cast<std::uint16_t>(i % 2);
    records.use(who, 0, inside(2, i - 1), {outside(from), false, nullptr});
  }
  const Graph graph = finish();
  ASSERT_EQ(graph.origins.size(), 2u);
  EXPECT_EQ(graph.origins[0].turns[1] + graph.origins[1].turns[1], 4u);
  EXPECT_EQ(graph.origins[0].turns[0] + graph.origins[1].turns[0], 0u);
}

TEST_F(OriginRecordsTest, CopiesOfNothing) {
  at(0);
  records.use(who, 4, outside(2), {{}, true, nullptr});
  const Graph graph = finish();
  ASSERT_EQ(graph.origins.size(), 1u);
  EXPECT_EQ(graph.origins[0].from, kNoStatement);
  EXPECT_EQ(graph.origins[0].carried, Counts{1});
  EXPECT_EQ(graph.origins[0].lane, 4);
}

/// A neighbour that was loaded one iteration ago: in place, rewritten or written by that iteration.
TEST_F(OriginRecordsTest, LoadsOfOtherIterations) {
  memory.write(0x1000, 8, inside(0, 1));
  const Provenance untouched = loaded(inside(1, 0), 0x2000);
  Provenance written = loaded(inside(1, 1), 0x1000);
  note_writers(memory, written);
  Provenance stale = loaded(inside(1, 2), 0x1000);
  at(0);
  records.use(who, 0, inside(1, 0), {inside(1, 0), false, &untouched});
  at(1);
  records.use(who, 0, inside(1, 0), {inside(1, 0), false, &untouched});
  at(2);
  records.use(who, 0, inside(1, 1), {inside(1, 1), false, &written});
  at(3);
  records.use(who, 0, inside(1, 2), {inside(1, 2), false, &stale});
  const Graph graph = finish();
  ASSERT_EQ(graph.origins.size(), 1u);
  const Origin& origin = graph.origins[0];
  EXPECT_TRUE(origin.load);
  EXPECT_FALSE(origin.even);
  EXPECT_EQ(origin.carried, (Counts{0, 3, 0}));
  EXPECT_EQ(origin.reread, (Counts{0, 1, 0}));
  EXPECT_EQ(origin.rewritten, (Counts{0, 1, 0}));
}

TEST_F(OriginRecordsTest, EvenAddresses) {
  for (std::uint64_t i = 1; i < 6; ++i) {
    const Provenance load = loaded(inside(1, i - 1), 0x1000 + 8 * i);
    at(i);
    records.use(who, 0, inside(1, i - 1), {inside(1, i - 1), false, &load});
  }
  EXPECT_TRUE(finish().origins.at(0).even);
}

/// What was computed in between ends it, record or not.
TEST_F(OriginRecordsTest, OtherOriginsAreNotEven) {
  const Provenance load = loaded(inside(1, 0), 0x1000);
  at(1);
  records.use(who, 0, inside(1, 0), {inside(1, 0), false, &load});
  at(2);
  records.use_directly(who, 0, outside(1));
  EXPECT_FALSE(finish().origins.at(0).even);
}

}  // namespace
}  // namespace loopfold::ddg
