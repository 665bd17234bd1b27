// Several iterations at once against as many single calls, through everything that a finished graph says.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "ddg/streams.h"
#include "ddg/testing.h"

namespace loopfold::ddg {
namespace {

using structure::Context;
using testing::difference;
using testing::lines_of;

constexpr ObjectId kObject = 5;

/// thread { f; loop { g; loop { h } } }, and the same a second time, on another stack.
class Program {
 public:
  Program() {
    start_ = child(Context::Kind::kStart, structure::LoopTree::root(), 0);
    outer_ = child(Context::Kind::kLoop, start_, 1);
    inner_ = child(Context::Kind::kLoop, outer_, 2);
    other_ = child(Context::Kind::kLoop, outer_, 3);
  }

  struct Sites {
    SiteId start = 0, outer = 0, inner = 0, other = 0, second = 0;
  };
  Sites sites(Streams& streams) const {
    const auto site = [&](structure::ContextId context, structure::NodeId node, std::uint64_t stack) {
      return streams.site({Statement::Kind::kCode, context, 0, node, 0, stack}, 0, 4);
    };
    return {site(start_, 1, 0), site(outer_, 2, 0), site(inner_, 3, 0), site(other_, 4, 0), site(inner_, 3, 1)};
  }

  structure::LoopTree tree;

 private:
  structure::ContextId child(Context::Kind kind, structure::ContextId parent, structure::LoopId loop) {
    structure::ContextKey key;
    key.kind = kind;
    key.parent = parent;
    key.loop = loop;
    return tree.child(key, loop, 0);
  }
  structure::ContextId start_ = 0, outer_ = 0, inner_ = 0, other_ = 0;
};

Streams::Reader reader_of(SiteId site, std::uint16_t lane = 0, ObjectId object = kObject) {
  Streams::Reader reader;
  reader.site = site;
  reader.operand = kFirstMemoryOperand;
  reader.lane = lane;
  reader.kind = Dependence::Kind::kMemory;
  reader.object = object;
  return reader;
}

MemoryAccess word_access() {
  MemoryAccess access;
  access.size = 8;
  return access;
}

/// Some of the first coordinates that are equal, but for the last ones.
std::size_t known_equal(const std::vector<std::int64_t>& point, const std::vector<std::int64_t>& producer) {
  const std::size_t most = std::min(point.size(), producer.size()) - 1;
  std::size_t equal = 0;
  while (equal < most && point[equal] == producer[equal]) ++equal;
  return point.back() % 2 == 0 ? equal : equal / 2;
}

/// The same calls on streams, all at once or one by one.
class Calls {
 public:
  Calls(Streams& streams, bool runs) : streams_(streams), runs_(runs) {}

  /// The first one is always single: it makes the stream.
  void instance(SiteId site, std::vector<std::int64_t> point, std::uint64_t n) {
    streams_.instance(site, point.data());
    ++point.back();
    if (runs_ && n > 1) return streams_.instance_run(site, point.data(), n - 1);
    for (std::uint64_t k = 1; k < n; ++k, ++point.back()) streams_.instance(site, point.data());
  }

  void access(SiteId site, std::vector<std::int64_t> point, Objects::Place place, std::int64_t step, std::uint64_t n,
              std::uint64_t copies, std::uint64_t entry) {
    if (runs_) return streams_.access_run(site, word_access(), point.data(), place, {0, step}, n, copies, entry);
    for (std::uint64_t k = 0; k < n; ++k, ++point.back(), place.offset += step) {
      streams_.access(site, word_access(), point.data(), place.object, place.block, place.offset, entry, k < copies);
    }
  }

  void value(SiteId site, std::vector<std::int64_t> point, std::int64_t label, std::int64_t step, std::uint64_t n,
             std::uint64_t entry) {
    if (runs_) return streams_.value_run(site, {}, point.data(), label, step, n, entry);
    for (std::uint64_t k = 0; k < n; ++k, ++point.back()) {
      streams_.value(site, {}, point.data(), label, entry);
      label = static_cast<std::int64_t>(static_cast<std::uint64_t>(label) + static_cast<std::uint64_t>(step));
    }
  }

  void dependence(Streams::Reader reader, DefinitionId from, std::vector<std::int64_t> point,
                  std::vector<std::int64_t> producer, std::int64_t step, std::uint64_t n, std::uint64_t reloads,
                  std::int64_t stride = 1) {
    if (const Streams::Dependences to = runs_ ? streams_.dependences(reader, from) : nullptr; to != nullptr) {
      if (streams_.dependence_run(to, reader, point.data(), producer.data(), known_equal(point, producer), step, n,
                                  reloads, stride))
        streams_.late(1, n);
      return;
    }
    for (std::uint64_t k = 0; k < n; ++k, point.back() += stride, producer.back() += step) {
      reader.reload = k < reloads;
      if (streams_.dependence(reader, from, point.data(), producer.data())) streams_.late(1);
    }
  }

 private:
  Streams& streams_;
  bool runs_;
};

using Story = std::function<void(Calls&, const Program::Sites&, const Streams&)>;

std::vector<std::string> told(const Program& program, const Story& story, bool runs, unsigned jobs = 1) {
  Streams streams({}, program.tree, jobs);
  const Program::Sites sites = program.sites(streams);
  Calls calls(streams, runs);
  story(calls, sites, streams);
  Graph graph;
  streams.finish(graph, structure::CodeMap({}, {}, {}), {});
  return lines_of(graph);
}

void expect_same(const Story& story, unsigned jobs = 1) {
  const Program program;
  EXPECT_EQ(difference(told(program, story, false), told(program, story, true, jobs)), "");
}

/// Statements have instances before anything else is told of them.
void begin(Calls& calls, const Program::Sites& sites) {
  calls.instance(sites.start, {0}, 1);
  calls.instance(sites.outer, {0, 0}, 1);
  calls.instance(sites.inner, {0, 0, 0}, 1);
  calls.instance(sites.other, {0, 0, 0}, 1);
}

/// The producer's coordinate grows by 0, 2, -1 ... per iteration: it is the reader's own in one iteration, or in none.
TEST(StreamsRuns, CoordinatesMeetOnceOrAlwaysOrNever) {
  for (std::int64_t step = -3; step <= 3; ++step) {
    for (std::int64_t first = -12; first <= 12; ++first) {
      for (const std::uint64_t n : {1u, 2u, 7u}) {
        SCOPED_TRACE(fmt::format("from {} by {}, {} iterations", first, step, n));
        expect_same([&](Calls& calls, const Program::Sites& sites, const Streams& streams) {
          begin(calls, sites);
          calls.dependence(reader_of(sites.inner), streams.definition(sites.inner, 1), {0, 4, 20}, {0, 4, 20 + first},
                           step, n, 0);
        });
      }
    }
  }
}

TEST(StreamsRuns, CountsByHand) {
  const Program program;
  Streams streams({}, program.tree);
  const Program::Sites sites = program.sites(streams);
  Calls calls(streams, true);
  begin(calls, sites);
  const DefinitionId from = streams.definition(sites.inner, 1);
  calls.dependence(reader_of(sites.inner), from, {0, 1, 0}, {0, 1, 3}, 0, 10, 4);    // meets in iteration 3
  calls.dependence(reader_of(sites.inner), from, {0, 1, 10}, {0, 1, 9}, 1, 10, 0);   // always one behind
  calls.dependence(reader_of(sites.inner), from, {0, 2, 0}, {0, 1, 0}, 1, 10, 0);    // of the iteration outside before
  calls.dependence(reader_of(sites.inner), from, {0, 2, 10}, {0, 2, 10}, 1, 10, 0);  // its own
  Graph graph;
  streams.finish(graph, structure::CodeMap({}, {}, {}), {});
  ASSERT_EQ(graph.dependences.size(), 1u);
  EXPECT_EQ(graph.dependences[0].carried, (std::vector<std::uint64_t>{0, 10, 19, 11}));
  EXPECT_EQ(graph.dependences[0].reloads, 4u);
  EXPECT_EQ(graph.dependences[0].map.points, 40u);
}

/// Readers and producers of all depths, where the shared coordinates are fewer than either has.
TEST(StreamsRuns, OtherDepths) {
  for (const std::int64_t outer : {3, 4}) {
    for (const std::int64_t step : {0, 1, 2}) {
      expect_same([&](Calls& calls, const Program::Sites& sites, const Streams& streams) {
        begin(calls, sites);
        const auto from = [&](SiteId site) { return streams.definition(site, 2); };
        calls.dependence(reader_of(sites.inner), from(sites.start), {0, 4, 2}, {0}, 0, 8, 1);
        calls.dependence(reader_of(sites.inner), from(sites.outer), {0, 4, 10}, {0, outer}, 0, 8, 0);
        calls.dependence(reader_of(sites.inner), from(sites.other), {0, 4, 20}, {0, outer, 20}, step, 8, 0);
        calls.dependence(reader_of(sites.outer), from(sites.inner), {0, 4}, {0, outer, 7}, 0, 1, 0);
        calls.dependence(reader_of(sites.outer, 8), from(sites.outer), {0, 4}, {0, outer}, step, 6, 0);
        calls.dependence(reader_of(sites.outer, 4), from(sites.start), {0, 4}, {0}, 0, 6, 6);
      });
    }
  }
}

/// From another stack: the first coordinate differs in all iterations.
TEST(StreamsRuns, LateFlow) {
  expect_same([&](Calls& calls, const Program::Sites& sites, const Streams& streams) {
    begin(calls, sites);
    calls.instance(sites.second, {1, 0, 0}, 5);
    calls.dependence(reader_of(sites.second), streams.definition(sites.inner, 1), {1, 0, 0}, {0, 0, 0}, 1, 5, 0);
    calls.dependence(reader_of(sites.second), streams.definition(sites.second, 1), {1, 1, 0}, {1, 1, 0}, 1, 5, 0);
  });
}

TEST(StreamsRuns, OtherObjectsAreNoted) {
  expect_same([&](Calls& calls, const Program::Sites& sites, const Streams& streams) {
    begin(calls, sites);
    const DefinitionId from = streams.definition(sites.inner, 1);
    calls.dependence(reader_of(sites.inner), from, {0, 0, 0}, {0, 0, 0}, 1, 5, 0);
    calls.dependence(reader_of(sites.inner, 0, kObject + 1), from, {0, 0, 5}, {0, 0, 5}, 1, 5, 0);
  });
}

TEST(StreamsRuns, ValuesThatAreSteadyOrNot) {
  constexpr std::int64_t kTop = std::numeric_limits<std::int64_t>::max();
  struct Case {
    std::int64_t label, step;
    std::uint64_t n, entry;
    std::int64_t counter;
  };
  const std::vector<std::vector<Case>> cases = {{{5, 3, 10, 1, 0}, {35, 3, 10, 1, 10}},
                                                {{5, 3, 10, 1, 0}, {36, 3, 10, 1, 10}},
                                                {{5, 3, 10, 1, 0}, {35, 2, 10, 1, 10}},
                                                {{5, 3, 10, 1, 0}, {0, 7, 10, 2, 0}},
                                                {{5, 3, 1, 1, 0}, {8, 3, 1, 1, 1}, {11, 3, 2, 1, 2}},
                                                {{5, 3, 1, 1, 0}, {7, 3, 3, 1, 1}},
                                                {{kTop - 3, 1, 4, 1, 0}},
                                                {{kTop - 3, 1, 5, 1, 0}},
                                                {{kTop - 3, 1, 9, 1, 0}},
                                                {{0, kTop, 3, 1, 0}},
                                                {{0, kTop, 5, 1, 0}},
                                                {{-kTop, -1, 2, 1, 0}},
                                                {{-kTop, -1, 3, 1, 0}}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    expect_same([&](Calls& calls, const Program::Sites& sites, const Streams&) {
      begin(calls, sites);
      for (const Case& c : cases[i])
        calls.value(sites.inner, {0, static_cast<std::int64_t>(c.entry), c.counter}, c.label, c.step, c.n, c.entry);
    });
  }
}

TEST(StreamsRuns, AccessesThatStayOrMove) {
  for (const std::int64_t step : {0, 8, -3}) {
    for (const std::int64_t block : {0, 1}) {
      expect_same([&](Calls& calls, const Program::Sites& sites, const Streams&) {
        begin(calls, sites);
        calls.access(sites.inner, {0, 0, 0}, {kObject, 0, 40}, step, 6, 2, 1);
        calls.access(sites.inner, {0, 0, 6}, {kObject, block, 40 + 6 * step}, step, 6, 0, 1);
        calls.access(sites.inner, {0, 1, 0}, {kObject + 1, 0, 0}, 0, 1, 1, 2);
        calls.access(sites.inner, {0, 1, 1}, {kObject, 0, 99}, step, 2, 0, 2);
      });
    }
  }
}

/// One run in each entry says whether it stays.
TEST(StreamsRuns, AccessesOfOneRun) {
  for (const std::int64_t step : {0, 8}) {
    for (const std::uint64_t n : {1u, 2u, 6u}) {
      expect_same([&](Calls& calls, const Program::Sites& sites, const Streams&) {
        begin(calls, sites);
        calls.access(sites.inner, {0, 0, 0}, {kObject, 0, 40}, step, n, 0, 1);
        calls.access(sites.inner, {0, 1, 0}, {kObject, 0, 48}, step, n, 0, 2);
      });
    }
  }
}

/// Segments of a nest, one after the other, with random labels; also with folding done by another thread.
class RandomStory {
 public:
  explicit RandomStory(std::uint64_t seed) : random_(seed) {}

  void operator()(Calls& calls, const Program::Sites& sites, const Streams& streams) {
    calls.instance(sites.start, {0}, 1);
    for (std::int64_t i = 0; i < 5; ++i) {
      calls.instance(sites.outer, {0, i}, 1);
      const auto entry = static_cast<std::uint64_t>(i + 1);
      for (std::int64_t j = 0; j < 30;) {
        const auto n = std::min<std::int64_t>(between(1, 9), 30 - j);
        segment(calls, sites, streams, {0, i, j}, static_cast<std::uint64_t>(n), entry);
        j += n;
      }
    }
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }

  void segment(Calls& calls, const Program::Sites& sites, const Streams& streams,
               const std::vector<std::int64_t>& point, std::uint64_t n, std::uint64_t entry) {
    const auto at_most = static_cast<std::int64_t>(n);
    calls.instance(sites.inner, point, n);
    calls.value(sites.inner, point, point[2] * 4 + between(0, 1), between(3, 4), n, entry);
    calls.access(sites.inner, point, {static_cast<ObjectId>(between(5, 6)), between(0, 1), point[2] * 8}, between(7, 8),
                 n, static_cast<std::uint64_t>(between(0, at_most)), entry);
    const Streams::Reader reader = reader_of(sites.inner, static_cast<std::uint16_t>(between(0, 1) * 4));
    const auto reloads = static_cast<std::uint64_t>(between(0, at_most));
    const std::uint16_t instruction = static_cast<std::uint16_t>(between(0, 3));
    switch (between(0, 3)) {
      case 0:
        return calls.dependence(reader, streams.definition(sites.start, instruction), point, {0}, 0, n, reloads);
      case 1:
        return calls.dependence(reader, streams.definition(sites.outer, instruction), point,
                                {0, std::max<std::int64_t>(0, point[1] - between(0, 1))}, 0, n, reloads);
      default:
        return calls.dependence(reader, streams.definition(sites.inner, instruction), point,
                                {0, point[1] - between(0, 1), point[2] + between(-4, 4)}, between(-2, 2), n, reloads);
    }
  }

  std::mt19937_64 random_;
};

TEST(StreamsRuns, RandomSegments) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    expect_same(
        [&](Calls& calls, const Program::Sites& sites, const Streams& streams) {
          RandomStory story(seed);
          story(calls, sites, streams);
        },
        seed % 10 == 0 ? 2 : 1);
  }
}

}  // namespace
}  // namespace loopfold::ddg
