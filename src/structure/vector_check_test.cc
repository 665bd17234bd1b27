// Vectors increase, and runs give what events give, for any sequence of events whatever: also one that no program could
// have made. Both passes make the same decisions, so whatever the second one does is in the graphs of the first.
#include "structure/vector_check.h"

#include <gtest/gtest.h>

#include <random>

#include "structure/walk_testing.h"

namespace loopfold::structure::testing {
namespace {

using trace::ExitKind;

/// Random blocks that overlap, exits that lead anywhere, events in any order with stack pointers that collide.
class Nonsense {
 public:
  explicit Nonsense(std::uint64_t seed) : random_(seed) {}

  Story make() {
    Story story;
    story.file = std::make_unique<trace::testing::TempFile>();
    std::unique_ptr<trace::Writer> writer = *trace::Writer::create(story.file->path(), trace::testing::sample_info());
    describe(*writer);
    for (std::uint64_t i = 0, steps = 5 + pick(60); i < steps; ++i) step(*writer);
    writer->finish({});
    EXPECT_FALSE(writer->error()) << writer->error()->message;
    story.reader = std::move(*trace::Reader::open(story.file->path()));
    if (pick(2) == 0) return story;
    const std::uint64_t salt = random_();
    story.facts.is_start = [salt](std::uint64_t address) { return (address / 4 + salt) % 5 == 0; };
    story.facts.function_of = [salt](std::uint64_t address) {
      return (address / 4 + salt) % 7 == 0 ? 0 : address - (address / 4 + salt) % 5 * 4;
    };
    return story;
  }

 private:
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  std::uint64_t any_address() { return pick(20) == 0 ? random_() : 0x1000 + 4 * pick(24); }

  void describe(trace::Writer& writer) {
    for (trace::BlockId id = 0, count = static_cast<trace::BlockId>(1 + pick(10)); id < count; ++id) {
      trace::Block block;
      block.id = id;
      block.address = 0x1000 + 4 * pick(24);
      block.lengths.assign(1 + pick(6), 4);
      for (std::size_t i = 0; i < block.lengths.size(); ++i)
        block.bytes.insert(block.bytes.end(), {0x0f, 0x1f, 0x40, 0x00});
      writer.add_block(block);
      blocks_.push_back(block);
    }
    for (trace::ExitId id = 0, count = static_cast<trace::ExitId>(2 + pick(25)); id < count; ++id) {
      trace::Exit exit;
      exit.id = id;
      exit.block = static_cast<trace::BlockId>(pick(blocks_.size()));
      exit.kind = pick(3) == 0 ? ExitKind::kNext : static_cast<ExitKind>(pick(10));
      const std::size_t most = blocks_[exit.block].lengths.size();
      exit.instructions = static_cast<std::uint16_t>(pick(4) == 0 ? pick(most + 1) : most);
      if (pick(4) != 0) exit.target = pick(4) == 0 ? any_address() : blocks_[pick(blocks_.size())].address;
      exit.slots = static_cast<std::uint16_t>(pick(3));
      if (exit.slots > 0 && pick(5) != 0) exit.stack_pointer = trace::Value::slot(exit.slots - 1u);
      if (exit.slots == 0 && pick(4) == 0) exit.stack_pointer = trace::Value::constant(stack_pointer());
      writer.add_exit(exit);
      exits_.push_back(exit);
    }
  }

  std::uint64_t stack_pointer() {
    constexpr std::uint64_t kCorners[] = {0, 7, 8, ~std::uint64_t{0}, ~std::uint64_t{7}, std::uint64_t{1} << 63};
    return pick(12) == 0 ? kCorners[pick(6)] : 0x8000 + 8 * pick(12);
  }

  void event(trace::Writer& writer, trace::ExitId exit, std::uint64_t value) {
    const std::vector<std::uint64_t> slots(exits_[exit].slots, value);
    writer.event(thread_, slice_, exit, slots);
  }

  void step(trace::Writer& writer) {
    const std::uint64_t kind = pick(12);
    if (kind == 0) {
      ++slice_;
      thread_ = static_cast<trace::ThreadId>(pick(3));
    } else if (kind == 1) {
      side(writer);
    } else if (kind < 6) {
      cycle(writer);
    } else {
      event(writer, static_cast<trace::ExitId>(pick(exits_.size())), stack_pointer());
    }
  }

  void side(trace::Writer& writer) {
    const std::vector<trace::SideData> kinds = trace::testing::every_side(0);
    const trace::SideData data =
        pick(2) == 0 ? trace::SideData(trace::Signal{pick(3) != 0, 11, false}) : kinds[pick(kinds.size())];
    writer.side({pick(10) == 0 ? static_cast<trace::ThreadId>(pick(3)) : thread_, slice_, 0, data});
  }

  /// Something that is repeated: a run, if it comes back to where it began.
  void cycle(trace::Writer& writer) {
    std::vector<trace::ExitId> path;
    for (const trace::Exit& last : exits_) {
      if (last.kind != ExitKind::kNext || !last.target || *last.target > blocks_[last.block].address || pick(3) != 0)
        continue;
      for (const trace::Exit& first : exits_)
        if (blocks_[first.block].address == *last.target && (path.empty() || pick(3) == 0)) path = {first.id};
      for (std::uint64_t i = 0, count = pick(5); i < count && !path.empty(); ++i)
        path.push_back(static_cast<trace::ExitId>(pick(exits_.size())));
      if (!path.empty()) path.push_back(last.id);
      break;
    }
    if (path.empty()) path.push_back(static_cast<trace::ExitId>(pick(exits_.size())));
    std::vector<std::uint64_t> values(path.size());
    for (std::uint64_t& value : values) value = stack_pointer();
    const bool steady = pick(3) != 0;
    for (std::uint64_t i = 0, count = 3 + pick(12); i < count; ++i) {
      for (std::size_t j = 0; j < path.size(); ++j) {
        event(writer, path[j], steady ? values[j] : stack_pointer());
        if (pick(60) == 0) side(writer);
      }
      if (pick(5) == 0) event(writer, static_cast<trace::ExitId>(pick(exits_.size())), values[0]);
    }
  }

  std::mt19937_64 random_;
  std::vector<trace::Block> blocks_;
  std::vector<trace::Exit> exits_;
  trace::ThreadId thread_ = 0;
  std::uint64_t slice_ = 0;
};

/// A client that writes down what it is told, and has its own mind about frames of tail callers.
class Notes {
 public:
  struct Frame {
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  struct Stack {
    int id = 0;
  };
  using S = Activations<Notes>::Stack;
  enum class Keep { kNever, kAlways, kSometimes };

  explicit Notes(Keep keep) : keep_(keep) {}

  void begin(S& stack) {
    stack.data.id = stacks_++;
    note(stack, "begin");
  }
  void call(S& stack) { note(stack, "call"); }
  bool keeps_tail_caller(S&, PlaceId callee) {
    if (keep_ == Keep::kSometimes) return (callee + count_++) % 2 == 0;
    return keep_ == Keep::kAlways;
  }
  void tail_call(S& stack, bool) { note(stack, "tail call"); }
  void leave(S&) {}
  void end(S&) {}
  void jump(S& stack, PlaceId place) { note(stack, "jump", place); }
  void land(S& stack, PlaceId place) { note(stack, "land", place); }
  bool was_at(PlaceId) const { return false; }
  void set_thread(trace::ThreadId) {}
  void run_part(S& stack, const Part& part) { note(stack, "part", part.place); }
  void mark(S&) {}
  void begin_path(S&) {}
  PathEnd end_path(S&, std::size_t) { return PathEnd::kChanged; }
  void repeat(S&, std::size_t, std::uint64_t) {}
  void stop_watching() {}

  std::vector<std::string> notes;

 private:
  /// How deep it is, tail callers not counted.
  void note(const S& stack, const char* what, PlaceId place = kNoPlace) {
    std::size_t depth = 0;
    for (const auto& frame : stack.frames) depth += !frame.tail;
    notes.push_back(fmt::format("{} at {} in {}, stack {}, depth {}", what, static_cast<int>(place),
                                stack.frames.back().function, stack.data.id, depth));
  }
  Keep keep_;
  int stacks_ = 0;
  std::uint64_t count_ = 0;
};

std::vector<std::string> notes_of(const Story& story, const Structure& structure, Notes::Keep keep, bool expand) {
  Notes notes(keep);
  std::vector<std::uint8_t> starts = structure.flow.starts();
  RunWalk<Notes> walk(structure.code, starts, notes, expand);
  std::string damage;
  walk.walk(*story.reader, damage);
  return notes.notes;
}

/// Everything that the second pass runs is a node of the first pass's graphs.
void expect_nodes(const Walked& walked) {
  for (std::size_t i = 0; i < walked.seen.parts.size(); ++i)
    ASSERT_EQ(walked.seen.places[i], walked.seen.parts[i].address) << "part " << i;
}

TEST(VectorCheck, AnyEventsAtAll) {
  std::size_t runs = 0;
  const std::uint64_t count = 1500 * soak();
  for (std::uint64_t i = 0; i < count; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed(i)));
    const Story story = Nonsense(seed(i)).make();
    const Walked walked(story);
    EXPECT_EQ(walked.check.problem, "");
    expect_nodes(walked);
    const std::vector<std::string> notes = notes_of(story, walked.structure, Notes::Keep::kNever, true);
    EXPECT_EQ(notes, notes_of(story, walked.structure, Notes::Keep::kAlways, true));
    EXPECT_EQ(notes, notes_of(story, walked.structure, Notes::Keep::kSometimes, true));
    EXPECT_EQ(notes, notes_of(story, walked.structure, Notes::Keep::kSometimes, false));
    if (HasFailure()) return;
    runs += count_runs(story);
  }
  EXPECT_GT(runs, count);
}

/// Threads are numbered from 0 by the recorder; a file may say otherwise.
TEST(VectorCheck, ThreadsOfAnyNumber) {
  Script script;
  for (const trace::ThreadId thread : {70000u, 3000u, 5u}) {
    script.set_thread(thread);
    script.start(0x1000);
    script.jump(0x1100);
    script.side(trace::Signal{false, 11, false});
    script.side(trace::Hidden{trace::Hidden::Reason::kLibrary, 1});
    script.jump(0x1200);
  }
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_EQ(walked.check.stacks, 3u);
}

TEST(VectorCheck, FindsVectorsThatDoNotIncrease) {
  Script script;
  script.start(0x1000);
  for (int i = 0; i < 5; ++i) {
    script.jump(0x1100);
    script.jump(0x1200);
  }
  const Story story = script.finish();
  Structure structure = find_structure(*story.reader, story.facts);
  EXPECT_EQ(check_vectors(*story.reader, structure).problem, "");
  EXPECT_EQ(check_vectors(*story.reader, structure).parts, 10u);
  structure.forests[0] = LoopForest(Digraph(3, {}), 0);  // as if there were no loop
  EXPECT_EQ(check_vectors(*story.reader, structure).problem,
            "thread 0: the iteration vector of 0x1100, (1,0,0,1), does not come after (1,0,0,2)");
}

}  // namespace
}  // namespace loopfold::structure::testing
