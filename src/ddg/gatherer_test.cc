// Cells of several iterations at once against as many single calls, through everything that a finished graph says.
#include "ddg/gatherer.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "ddg/testing.h"

namespace loopfold::ddg {
namespace {

using structure::Context;
using testing::difference;
using testing::lines_of;

/// main { a; loop { b; loop { c } } }, in which c reads what all of them made.
class Story {
 public:
  explicit Story(bool together, std::uint16_t instructions) : together_(together), instructions_(instructions) {
    const structure::ContextId start = child(Context::Kind::kStart, structure::LoopTree::root(), 0);
    const structure::ContextId outer = child(Context::Kind::kLoop, start, 1);
    sites_ = {site(start, 1), site(outer, 2), site(child(Context::Kind::kLoop, outer, 2), 3)};
    top_ = entries_.add(kNoEntry, 0, 1);
    loop_ = entries_.add(top_, 0, 2);
    const std::int64_t once = 0;
    streams_.instance(sites_[0], &once);
  }

  /// Iterations of an entry of the inner loop read cells that the seed decides on.
  void tell(unsigned seed, std::uint64_t entries, std::uint64_t producers) {
    std::mt19937_64 random(seed);
    const auto pick = [&](std::uint64_t n) { return random() % n; };
    std::vector<EntryId> known;
    for (std::uint64_t outer = 0; outer < entries; ++outer) {
      const std::array<std::int64_t, 2> point{0, static_cast<std::int64_t>(outer)};
      streams_.instance(sites_[1], point.data());
      known.push_back(entries_.add(loop_, outer, 3));
      std::uint64_t counter = pick(3);
      for (std::uint64_t lists = 1 + pick(3); lists > 0; --lists) {
        std::vector<Cell> cells(1 + pick(64));
        const bool one_entry = pick(3) == 0;
        for (Cell& cell : cells) {
          const std::uint64_t kind = pick(8);
          const auto instruction = static_cast<std::uint16_t>(pick(producers));
          if (kind == 0) continue;
          if (kind == 1) cell = {streams_.definition(sites_[0], instruction), top_, 0};
          if (kind == 2) cell = {streams_.definition(sites_[1], instruction), loop_, pick(outer + 1)};
          if (kind > 2)
            cell = {streams_.definition(sites_[2], instruction), one_entry ? known.back() : known[pick(known.size())],
                    pick(counter + 1)};
        }
        take({known.back(), counter, outer + 1}, outer, cells);
        counter += cells.size();
      }
    }
  }

  std::vector<std::string> finish() {
    Graph graph;
    streams_.finish(graph, structure::CodeMap({}, {}, {}), {});
    return lines_of(graph);
  }

 private:
  structure::ContextId child(Context::Kind kind, structure::ContextId parent, structure::LoopId loop) {
    structure::ContextKey key;
    key.kind = kind;
    key.parent = parent;
    key.loop = loop;
    return tree_.child(key, loop, 0);
  }
  SiteId site(structure::ContextId context, structure::NodeId node) {
    return streams_.site({Statement::Kind::kCode, context, 0, node, 0, 0}, 0, instructions_);
  }

  void take(const Gatherer::First& first, std::uint64_t outer, const std::vector<Cell>& cells) {
    Streams::Reader reader;
    reader.site = sites_[2];
    reader.operand = kFirstMemoryOperand;
    reader.kind = Dependence::Kind::kMemory;
    reader.object = 5;
    streams_.set_time(++time_);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::array<std::int64_t, 3> point{0, static_cast<std::int64_t>(outer),
                                              static_cast<std::int64_t>(first.counter + i)};
      streams_.instance(sites_[2], point.data());
    }
    if (together_) return gatherer_.take(reader, first, cells.data(), cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].producer == 0) continue;
      const std::vector<std::int64_t> point{0, static_cast<std::int64_t>(outer),
                                            static_cast<std::int64_t>(first.counter + i)};
      std::vector<std::int64_t> producer(entries_.depth(cells[i].entry));
      entries_.vector(cells[i].entry, cells[i].counter, producer.data());
      streams_.dependence(reader, cells[i].producer, point.data(), producer.data());
    }
  }

  bool together_;
  std::uint16_t instructions_;
  structure::LoopTree tree_;
  Streams streams_{{}, tree_};
  Entries entries_;
  Gatherer gatherer_{streams_, entries_};
  std::vector<SiteId> sites_;
  EntryId top_ = kNoEntry;
  EntryId loop_ = kNoEntry;
  std::uint64_t time_ = 0;
};

void compare(unsigned seed, std::uint64_t entries, std::uint16_t producers) {
  Story together(true, producers);
  Story one_by_one(false, producers);
  together.tell(seed, entries, producers);
  one_by_one.tell(seed, entries, producers);
  EXPECT_EQ(difference(one_by_one.finish(), together.finish()), "") << seed;
}

TEST(Gatherer, SameAsOneByOne) {
  for (unsigned seed = 0; seed < 60; ++seed) compare(seed, 12, static_cast<std::uint16_t>(1 + seed % 5));
}

/// More than are kept apart: the others share a stream.
TEST(Gatherer, ManyProducers) { compare(1, 300, 5000); }

}  // namespace
}  // namespace loopfold::ddg
