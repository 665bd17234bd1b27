// The same calls give the same graph, whether they go to the streams at once or through the line.
#include "ddg/feed.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "ddg/graph_text.h"

namespace loopfold::ddg {
namespace {

using structure::Context;
using testing::difference;
using testing::lines_of;

constexpr std::uint64_t kMuch = std::uint64_t{1} << 32;

/// main { loop { a; b } } and another stack, with what a walk has beside it.
class Story {
 public:
  Story(bool threaded, std::uint64_t max_memory, unsigned seed)
      : feed_(streams_, entries_, sinces_, threaded, max_memory), random_(seed) {
    for (std::uint32_t i = 0; i < 3; ++i) codes_.push_back(code_of(i));
    for (PartCode& code : codes_) code.row.like = &code;
    top_ = entries_.add(kNoEntry, 0, 1, 1);
    sinces_.push_back(1);
    sinces_.push_back(1);
  }

  /// Some rounds of a loop in which all kinds of things happen.
  void tell(std::uint64_t rounds) {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const structure::ContextId loop = child(start_, static_cast<structure::LoopId>(1 + pick(20)));
      const SiteId site = site_of(loop, 0, 0);
      const SiteId other = site_of(loop, 1, 0);
      const SiteId elsewhere = site_of(loop, 2, 1);
      point_ = {static_cast<std::int64_t>(round), 0};
      entry_ = entries_.add(top_, round, 2, 1 + pick(3));
      instances(site);
      instances(other);
      instances(elsewhere);
      const std::uint64_t n = 1 + pick(100);
      runs(site, other, n);
      point_[1] += static_cast<std::int64_t>(n);
      rows(other, n);
      point_[1] += static_cast<std::int64_t>(n);
      depend(site, elsewhere);
      if (pick(50) == 0) needs_.push_back(feed_.limit(limit_).bytes);
    }
    for (const std::unique_ptr<Journal>& journal : journals_)
      if (journal && !journal->empty()) feed_.settle(*journal);
  }

  /// Instances, of which all that there are have come to the streams now and then.
  void tell_and_drain(std::uint64_t rounds) {
    const SiteId site = site_of(child(start_, 1), 0, 0);
    point_ = {1 << 20, 0};
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::uint64_t n = 10900 + pick(1 + pick(6000)); n > 0; --n) {
        ++point_[1];
        feed_.instance(site, point_.data());
      }
      feed_.drain();
    }
  }

  std::vector<std::string> finish() {
    feed_.drain();
    Graph graph;
    streams_.finish(graph, structure::CodeMap({}, {}, {}), {});
    std::vector<std::string> lines = lines_of(graph);
    for (const std::uint64_t bytes : needs_) lines.push_back("needed " + std::to_string(bytes));
    lines.push_back("accounted " + std::to_string(journal_bytes_));
    return lines;
  }

  void set_limit(std::uint64_t bytes) { limit_ = bytes; }
  bool started() const { return feed_.started(); }

 private:
  static PartCode code_of(std::uint32_t values) {
    PartCode code;
    for (std::uint32_t i = 0; i < values; ++i) {
      IntegerValue value;
      value.instruction = static_cast<std::uint16_t>(i);
      value.width = 8;
      value.dense = i;
      code.values.push_back(value);
    }
    code.row.possible = true;
    code.row.words = RowCode::kHeader + values;
    return code;
  }
  std::uint64_t pick(std::uint64_t n) { return random_() % n; }
  structure::ContextId child(structure::ContextId parent, structure::LoopId loop) {
    structure::ContextKey key;
    key.kind = parent == structure::LoopTree::root() ? Context::Kind::kStart : Context::Kind::kLoop;
    key.parent = parent;
    key.loop = loop;
    return tree_.child(key, loop, 0);
  }
  SiteId site_of(structure::ContextId context, structure::NodeId node, std::uint64_t stack) {
    return streams_.site({Statement::Kind::kCode, context, 0, node, 0, stack}, 0, 4);
  }

  void instances(SiteId site) {
    feed_.set_time(++time_);
    const Streams::Located at = streams_.locate(site);
    feed_.instance(at, point_.data());
    for (const IntegerValue& value : codes_[2].values)
      feed_.value(at, value, point_.data(), static_cast<std::int64_t>(pick(9)), time_);
    const auto offset = static_cast<std::int64_t>(8 * pick(4));
    feed_.access(at, access_, point_.data(), {static_cast<ObjectId>(1 + pick(3)), 0, offset}, time_, pick(2) == 0);
  }

  void runs(SiteId site, SiteId other, std::uint64_t n) {
    feed_.set_time(++time_);
    std::vector<std::int64_t> point = point_;
    ++point[1];
    feed_.instance_run(site, point.data(), n);
    feed_.value_run(site, codes_[2].values[0], point.data(), 5, static_cast<std::int64_t>(pick(3)), n, time_);
    feed_.access_run(site, access_, point.data(), {1, 0, 64}, {0, 8}, n, pick(n), time_);
    std::vector<std::int64_t> labels;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(n, 64); ++i)
      labels.push_back(static_cast<std::int64_t>(pick(5)));
    feed_.value_list(site, codes_[2].values[1], point.data(), labels.data(), labels.size(), time_);
    point[1] += static_cast<std::int64_t>(n);  // behind those of access_run()
    feed_.access_list(site, access_, point.data(), {1, 0, 0}, labels.data(), labels.size(), pick(2), time_);
    point[1] -= static_cast<std::int64_t>(n);
    std::vector<Cell> cells;
    for (const std::int64_t label : labels)
      cells.push_back({label == 0 ? 0 : streams_.definition(other, static_cast<std::uint16_t>(label / 2)), entry_,
                       static_cast<std::uint64_t>(label)});
    Streams::Reader gathering = reader_of(site, access_);
    gathering.lane = 2;
    gathering.object = 1;
    feed_.gathered(gathering, {entry_, static_cast<std::uint64_t>(point[1]), time_}, cells.data(), cells.size());
    const std::vector<std::int64_t> producer{point[0], point[1] - 1};
    const DefinitionId from = streams_.definition(other, static_cast<std::uint16_t>(pick(4)));
    feed_.register_run(used_[pick(2)], site, read_, from, 0, {point.data(), producer.data(), 1, 1, n, 0, 1, {}});
    const Streams::Reader reader = reader_of(site, access_);
    const Streams::Dependences to = feed_.prepare(reader, from);
    feed_.dependence_run(to, reader, from, {point.data(), producer.data(), pick(2), 1, n, pick(n), 1, {}});
  }

  void depend(SiteId site, SiteId elsewhere) {
    feed_.set_time(++time_);
    Streams::Reader reader = reader_of(site, access_);
    reader.lane = 4;
    const std::vector<std::int64_t> producer{point_[0] - static_cast<std::int64_t>(pick(2)), 0};
    const std::vector<std::uint16_t> late{0, 1};
    feed_.dependence(streams_.locate(site), reader, streams_.definition(elsewhere, 0), point_.data(), producer.data(),
                     0, late);
    reader.chunks = true;
    reader.dense = 3;
    point_.push_back(static_cast<std::int64_t>(pick(3)));
    feed_.dependence(streams_.locate(site), reader, streams_.definition(elsewhere, 1), point_.data(), producer.data(),
                     0, {});
    point_.pop_back();
    if (pick(4) == 0) feed_.lost_dependence(reader_of(site, read_), point_.data());
  }

  void rows(SiteId site, std::uint64_t n) {
    if (site >= journals_.size()) journals_.resize(site + 1);
    if (!journals_[site]) journals_[site] = std::make_unique<Journal>(site);
    Journal& journal = *journals_[site];
    for (std::uint64_t i = 0; i < n; ++i) {
      const PartCode& code = codes_[pick(30) == 0 ? pick(3) : 1];
      std::uint64_t* row = journal.begin(code);
      if (row == nullptr) {
        if (!journal.empty()) feed_.settle(journal);
        const std::size_t room = journal.make_room(code);
        journal_bytes_ += journal.growth();
        if (journal.wants_batch()) journal.take(feed_.batch(room, journal_bytes_));
        row = journal.begin(code);
      }
      row[0] = entry_ | std::uint64_t{1} << 32;
      row[1] = static_cast<std::uint64_t>(point_[1]) + i;
      row[2] = time_;
      row[3] = ++time_;
      for (std::size_t k = 0; k < code.values.size(); ++k) row[RowCode::kHeader + k] = i * pick(2);
    }
    if (pick(3) == 0) feed_.settle(journal);
  }

  structure::LoopTree tree_;
  structure::ContextId start_ = child(structure::LoopTree::root(), 0);
  Streams streams_{{}, tree_};
  Entries entries_;
  Sinces sinces_;
  EntryId top_ = kNoEntry;
  EntryId entry_ = kNoEntry;
  std::vector<PartCode> codes_;
  MemoryAccess access_;
  RegisterRead read_;
  std::vector<std::unique_ptr<Journal>> journals_;
  std::uint64_t journal_bytes_ = 0;
  Streams::Used used_[2];
  std::vector<std::int64_t> point_;
  std::uint64_t time_ = 0;
  std::uint64_t limit_ = kMuch;
  std::vector<std::uint64_t> needs_;
  Feed feed_;
  std::mt19937_64 random_;
};

TEST(Feed, TheLineGivesTheSame) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    Story direct(false, kMuch, seed);
    Story line(true, kMuch, seed);
    direct.tell(6000);
    line.tell(6000);
    EXPECT_TRUE(line.started());
    EXPECT_EQ(difference(direct.finish(), line.finish()), "") << seed;
  }
}

/// Also if there is hardly room for anything on its way, and streams are given up.
TEST(Feed, TheLineGivesTheSameWithLittleMemory) {
  for (const std::uint64_t limit : {1u << 20, 200u << 10, 50u << 10}) {
    Story direct(false, 1 << 16, 3);
    Story line(true, 1 << 16, 3);
    for (Story* const story : {&direct, &line}) {
      story->set_limit(limit);
      story->tell(2000);
    }
    EXPECT_EQ(difference(direct.finish(), line.finish()), "") << limit;
  }
}

TEST(Feed, LittleNeedsNoThread) {
  Story direct(false, kMuch, 1);
  Story line(true, kMuch, 1);
  direct.tell(5);
  line.tell(5);
  EXPECT_EQ(difference(direct.finish(), line.finish()), "");
  EXPECT_FALSE(line.started());
}

/// Whoever works it off may be about to sleep when something comes and is waited for.
TEST(Feed, DrainedAgainAndAgain) {
  Story direct(false, kMuch, 7);
  Story line(true, kMuch, 7);
  for (Story* const story : {&direct, &line}) {
    story->tell(300);
    story->tell_and_drain(4000);
  }
  EXPECT_TRUE(line.started());
  EXPECT_EQ(difference(direct.finish(), line.finish()), "");
}

TEST(Feed, MayEndWithSomethingInTheLine) {
  for (const std::uint64_t rounds : {1, 10, 1000}) Story(true, kMuch, 5).tell(rounds);
}

}  // namespace
}  // namespace loopfold::ddg
