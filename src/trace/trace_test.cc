// Writer and Reader together: what is said to the one comes out of the other.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "trace/format.h"
#include "trace/reader.h"
#include "trace/run_testing.h"
#include "trace/testing.h"
#include "trace/writer.h"

namespace loopfold::trace {
namespace {

using testing::EventCopy;
using testing::sample_block;
using testing::sample_exit;
using testing::sample_info;
using testing::Step;
using testing::Story;
using testing::TempFile;
using testing::thread_of;
using testing::Walk;
using testing::walk;

std::unique_ptr<Writer> create(const TempFile& file) {
  Result<std::unique_ptr<Writer>> writer = Writer::create(file.path(), sample_info());
  EXPECT_TRUE(writer) << writer.error().message;
  return std::move(*writer);
}

std::unique_ptr<Reader> open(const TempFile& file, OpenOptions options = {}) {
  Result<std::unique_ptr<Reader>> reader = Reader::open(file.path(), options);
  EXPECT_TRUE(reader) << reader.error().message;
  return reader ? std::move(*reader) : nullptr;
}

std::string open_error(const std::string& path) {
  const Result<std::unique_ptr<Reader>> reader = Reader::open(path);
  return reader ? "" : reader.error().message;
}

/// A file of one story, in groups of about `group_bytes`.
Story write_story(const TempFile& file, std::uint64_t seed, std::size_t steps, ThreadId threads,
                  std::size_t group_bytes) {
  Story story(seed);
  std::unique_ptr<Writer> writer = create(file);
  writer->set_group_bytes(group_bytes);
  story.tell(*writer, steps, threads);
  writer->finish({});
  EXPECT_FALSE(writer->error()) << writer->error()->message;
  return story;
}

TEST(Trace, EverythingComesBackInOrder) {
  for (const std::size_t group_bytes : {std::size_t{1}, std::size_t{700}, std::size_t{20000}, kGroupBytes}) {
    for (const ThreadId threads : {1u, 2u, 7u}) {
      TempFile file;
      const Story story = write_story(file, threads + group_bytes, 3000, threads, group_bytes);
      const std::unique_ptr<Reader> reader = open(file);
      EXPECT_FALSE(reader->partial());
      EXPECT_EQ(reader->damage(), "");
      EXPECT_EQ(reader->info().argv, sample_info().argv);
      EXPECT_EQ(reader->modules().size(), story.modules.size());
      EXPECT_EQ(reader->modules().back().path, story.modules.back().path);
      EXPECT_EQ(reader->blocks(), story.blocks);
      EXPECT_EQ(reader->exits(), story.exits);
      EXPECT_EQ(reader->stacks(), story.stacks);
      EXPECT_EQ(reader->file_bytes(), std::filesystem::file_size(file.path()));
      for (int pass = 0; pass < 2; ++pass) {
        const Walk found = walk(*reader);
        EXPECT_FALSE(found.error) << found.error->message;
        EXPECT_TRUE(found.steps == story.steps);
      }
      std::uint64_t items = 0;
      for (const GroupSummary& group : reader->groups()) items += group.events + group.side_events;
      EXPECT_EQ(items, story.steps.size());
      EXPECT_EQ(reader->end()->events + reader->end()->side_events, story.steps.size());
    }
  }
}

TEST(Trace, OneThreadCanBeReadByItself) {
  TempFile file;
  const Story story = write_story(file, 5, 3000, 5, 3000);
  const std::unique_ptr<Reader> reader = open(file);
  for (ThreadId thread = 0; thread < 8; ++thread) {
    std::vector<Step> expected;
    for (const Step& step : story.steps) {
      if (thread_of(step) == thread) expected.push_back(step);
    }
    CursorOptions options;
    options.thread = thread;
    const Walk found = walk(*reader, options);
    EXPECT_FALSE(found.error) << found.error->message;
    EXPECT_TRUE(found.steps == expected) << thread;
  }
}

TEST(Trace, ACursorCanStartAtAnyGroup) {
  TempFile file;
  const Story story = write_story(file, 6, 3000, 3, 3000);
  const std::unique_ptr<Reader> reader = open(file);
  ASSERT_GT(reader->groups().size(), 5u);
  std::size_t skipped = 0;
  std::uint64_t offset = 0;
  std::uint64_t slice = 0;
  for (std::size_t group = 0; group <= reader->groups().size(); ++group) {
    CursorOptions options;
    options.first_group = group;
    const Walk found = walk(*reader, options);
    EXPECT_FALSE(found.error) << found.error->message;
    EXPECT_TRUE(found.steps ==
                std::vector<Step>(story.steps.begin() + static_cast<std::ptrdiff_t>(skipped), story.steps.end()));
    if (group == reader->groups().size()) break;
    const GroupSummary& summary = reader->groups()[group];
    EXPECT_GE(summary.first_slice, slice);
    EXPECT_TRUE(group == 0 || summary.file_offset == offset);
    slice = summary.first_slice;
    offset = summary.file_offset + summary.stored_bytes;
    skipped += summary.events + summary.side_events;
  }
  CursorOptions beyond;
  beyond.first_group = 1000000;
  EXPECT_TRUE(walk(*reader, beyond).steps.empty());
}

TEST(Trace, TheEndIsFinal) {
  TempFile file;
  write_story(file, 1, 10, 1, kGroupBytes);
  const std::unique_ptr<Reader> reader = open(file);
  Cursor cursor = reader->cursor();
  while (*cursor.next() != Cursor::Item::kEnd) {
  }
  EXPECT_EQ(*cursor.next(), Cursor::Item::kEnd);
  Cursor moved = std::move(cursor);
  EXPECT_EQ(*moved.next(), Cursor::Item::kEnd);
}

TEST(Trace, SideEventsOfOtherThreadsKeepTheirPlaceInASlice) {
  TempFile file;
  {
    std::unique_ptr<Writer> writer = create(file);
    writer->add_block(sample_block(0, 0));
    writer->add_exit(sample_exit(0, 0, 0));
    writer->event(0, 4, 0, {});
    writer->side({1, 4, 99, ThreadStart{0, 17}});
    writer->event(0, 4, 0, {});
    writer->side({0, 5, 0, Hidden{}});
    writer->side({1, 6, 0, Hidden{}});
    writer->event(1, 6, 0, {});
    EXPECT_EQ(writer->events_of(0), 2u);
    EXPECT_EQ(writer->events_of(1), 1u);
    EXPECT_EQ(writer->events_of(2), 0u);
    writer->finish({});
    writer->event(1, 6, 0, {});
    writer->finish({});
    EXPECT_FALSE(writer->error());
  }
  const std::vector<Step> expected = {
      EventCopy{0, 4, 0, 0, {}},    SideEvent{1, 4, 0, ThreadStart{0, 17}}, EventCopy{0, 4, 1, 0, {}},
      SideEvent{0, 5, 2, Hidden{}}, SideEvent{1, 6, 0, Hidden{}},           EventCopy{1, 6, 0, 0, {}},
  };
  EXPECT_TRUE(walk(*open(file)).steps == expected);
}

TEST(Trace, WithoutEventsThereIsStillATrace) {
  TempFile file;
  create(file)->finish({EndInfo::Reason::kExec, "x", 3, true, 0, 0, 9, 9, 9});
  const std::unique_ptr<Reader> reader = open(file);
  EXPECT_FALSE(reader->partial());
  EXPECT_EQ(reader->end()->reason, EndInfo::Reason::kExec);
  EXPECT_EQ(reader->end()->exit_status, 3);
  EXPECT_EQ(reader->end()->events, 0u) << "the writer knows better";
  EXPECT_TRUE(walk(*reader).steps.empty());
}

TEST(Trace, WithoutAnEndRecordItIsPartial) {
  TempFile file;
  Story story(3);
  {
    std::unique_ptr<Writer> writer = create(file);
    EXPECT_TRUE(open(file)->partial()) << "readable from the first moment";
    story.tell(*writer, 100, 2);
  }
  const std::unique_ptr<Reader> reader = open(file);
  EXPECT_TRUE(reader->partial());
  EXPECT_FALSE(reader->end());
  EXPECT_EQ(reader->damage(), "");
  EXPECT_TRUE(walk(*reader).steps == story.steps);
}

TEST(Trace, LargeGroupsAndManyThreads) {
  TempFile file;
  std::unique_ptr<Writer> writer = create(file);
  writer->set_group_bytes(60000);
  writer->add_block(sample_block(0, 2));
  writer->add_exit(sample_exit(0, 0, 2));
  for (std::uint64_t i = 0; i < 400000; ++i) {
    const std::uint64_t slots[] = {i, 8 * i, ~i};
    writer->event(static_cast<ThreadId>(i / 100 % 50), i / 100, 0, slots);
  }
  writer->finish({});
  ASSERT_FALSE(writer->error());
  const std::unique_ptr<Reader> reader = open(file);
  EXPECT_GT(reader->groups().size(), 2u);
  Cursor cursor = reader->cursor();
  for (std::uint64_t i = 0; i < 400000; ++i) {
    ASSERT_EQ(*cursor.next(), Cursor::Item::kEvent);
    ASSERT_EQ(cursor.event().thread, i / 100 % 50);
    ASSERT_EQ(cursor.event().position, i / 5000 * 100 + i % 100);
    ASSERT_EQ(cursor.event().slots[2], ~i);
  }
  EXPECT_EQ(*cursor.next(), Cursor::Item::kEnd);
}

/// The events of a made-up program as words. An exit has one to three words that name it, and some events are to be
/// noted.
struct WordStream {
  WordStream(const testing::Machine& machine, std::mt19937_64& random) {
    std::vector<std::vector<std::uint64_t>> names(machine.exits.size());
    exits.resize(7);  // that name nothing
    for (int round = 0; round < 3; ++round) {
      for (const Exit& exit : machine.exits) {
        if (round > 0 && random() % 4 != 0) continue;
        names[exit.id].push_back(exits.size());
        WordExit made;
        made.exit = exit.id & WordExit::kMostExits;
        made.noted = exit.stack_pointer.kind != Value::Kind::kNone ? 1 : 0;
        made.slots = exit.slots;
        made.instructions = exit.instructions;
        exits.push_back(made);
      }
    }
    for (const auto& [exit, slots] : machine.events) {
      starts.push_back(words.size());
      const std::size_t other = random() % 50 == 0 ? random() : 0;
      words.push_back(names[exit][other % names[exit].size()]);
      words.insert(words.end(), slots.begin(), slots.end());
    }
    starts.push_back(words.size());
  }
  std::vector<WordExit> exits;
  std::vector<std::uint64_t> words;
  std::vector<std::size_t> starts;  // of the events in the words
};

/// Writes the program's events, one by one or as words, in stretches and slices of random length.
std::vector<char> write_program(const testing::Machine& machine, std::uint64_t seed, bool as_words) {
  std::mt19937_64 random(seed);
  const WordStream stream(machine, random);
  TempFile file;
  std::unique_ptr<Writer> writer = create(file);
  if (seed % 3 == 0) writer->set_group_bytes(1000 + random() % 20000);
  for (const Block& block : machine.blocks) writer->add_block(block);
  for (const Exit& exit : machine.exits) writer->add_exit(exit);
  for (std::size_t i = 0, slice = 0; i < machine.events.size(); ++slice) {
    const std::size_t slice_end = std::min<std::size_t>(machine.events.size(), i + 1 + random() % 900);
    while (i < slice_end) {
      const std::size_t end = std::min(slice_end, i + 1 + random() % 300);
      // An event that is not all there ends a stretch.
      const std::size_t cut = end < slice_end && random() % 2 == 0 ? 1 : 0;
      for (std::size_t at = stream.starts[i]; as_words && at != stream.starts[end];) {
        // A copy of the very size, so that a look behind it shows in a sanitized build.
        const std::size_t last = std::max(stream.starts[end], stream.starts[end + cut] - cut);
        const std::vector<std::uint64_t> part(stream.words.begin() + static_cast<std::ptrdiff_t>(at),
                                              stream.words.begin() + static_cast<std::ptrdiff_t>(last));
        EventWords in(part, stream.exits);
        writer->events(0, slice, in);
        std::uint64_t instructions = 0;
        std::vector<std::size_t> noted;
        for (std::size_t n = 0, from = i; n < in.events(); ++n) {
          const Exit& exit = machine.exits[machine.events[from + n].first];
          instructions += exit.instructions;
          if (exit.stack_pointer.kind != Value::Kind::kNone) noted.push_back(stream.starts[from + n] - at);
        }
        EXPECT_EQ(in.words(), stream.starts[i + in.events()] - at);
        EXPECT_EQ(in.instructions(), instructions);
        EXPECT_EQ(in.noted().size(), noted.size());
        for (std::size_t n = 0; n < noted.size(); ++n) EXPECT_EQ(in.noted()[n], part.data() + noted[n]);
        if (in.events() == 0) return {};
        i += in.events();
        at += in.words();
      }
      for (; i < end; ++i) writer->event(0, slice, machine.events[i].first, machine.events[i].second);
    }
  }
  writer->finish({});
  EXPECT_FALSE(writer->error());
  return file.bytes();
}

/// Events as words, in stretches of any length and over slices, are the same file as one by one, in groups of all
/// sizes.
TEST(Trace, WordsAreAsGoodAsSingleEvents) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const testing::RandomProgram program(seed, 3000);
    EXPECT_TRUE(write_program(program.machine, seed, false) == write_program(program.machine, seed, true))
        << "seed " << seed;
  }
}

/// The same for loops that run long, regular but for a value or a way through the body now and then.
TEST(Trace, WordsOfLongLoopsAreAsGoodAsSingleEvents) {
  using testing::SlotKind;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    testing::Machine machine(seed);
    std::vector<BlockId> body;
    for (std::uint64_t n = 1 + machine.pick(5); n > 0; --n) {
      std::vector<SlotKind> slots(machine.pick(seed % 4 == 0 ? 40 : 4), SlotKind::kStride);
      if (!slots.empty() && machine.pick(3) == 0) slots[0] = SlotKind::kConstant;
      if (!slots.empty() && machine.pick(4) == 0)
        slots.back() = machine.pick(2) == 0 ? SlotKind::kBroken : SlotKind::kWrap;
      body.push_back(machine.block(slots));
    }
    const bool calls = machine.pick(4) == 0;
    for (int i = 0; i < 4000; ++i) {
      for (const BlockId block : body) {
        const bool call = calls && block == body.front() && body.size() > 1;
        machine.go(block, call ? ExitKind::kCall : ExitKind::kNext, machine.pick(1500) == 0 ? 1 : 0);
        if (machine.pick(4000) == 0) break;
      }
    }
    machine.finish();
    EXPECT_TRUE(write_program(machine, seed, false) == write_program(machine, seed, true)) << "seed " << seed;
  }
}

/// A group is as long for words as for single events, though an iteration may stand across its end.
TEST(Trace, WordsEndGroupsWhereSingleEventsDo) {
  testing::Machine machine(1);
  const BlockId head = machine.block({testing::SlotKind::kStride});
  const BlockId middle = machine.block({});
  const BlockId tail = machine.block({});
  machine.go(middle);
  for (int i = 0; i < 8; ++i) {
    for (const BlockId block : {head, middle, tail}) machine.go(block);
  }
  machine.go(head);
  machine.finish();
  // The exits of an iteration, the jump back included.
  const std::array<ExitId, 3> cycle = {machine.events[4].first, machine.events[5].first, machine.events[6].first};
  std::vector<WordExit> exits(machine.exits.size());
  for (const Exit& exit : machine.exits) {
    exits[exit.id].exit = exit.id & WordExit::kMostExits;
    exits[exit.id].slots = exit.slots;
  }
  constexpr std::uint64_t kIterations = kGroupEvents / 3 + 500;
  std::vector<char> files[2];
  for (const bool as_words : {false, true}) {
    TempFile file;
    std::unique_ptr<Writer> writer = create(file);
    for (const Block& block : machine.blocks) writer->add_block(block);
    for (const Exit& exit : machine.exits) writer->add_exit(exit);
    std::vector<std::uint64_t> words;
    for (std::uint64_t i = 0; i < kIterations; ++i) {
      for (const ExitId exit : cycle) {
        words.push_back(exit);
        if (exits[exit].slots == 1) words.push_back(8 * i);
      }
      if (words.size() < 4000 && i + 1 < kIterations) continue;
      EventWords in(words, exits);
      if (as_words) writer->events(0, 0, in);
      while (const WordExit* const next = in.front()) {
        writer->event(0, 0, next->exit, {in.slots(), next->slots});
        in.pass(*next);
      }
      EXPECT_EQ(in.words(), words.size());
      words.clear();
    }
    writer->finish({});
    files[as_words ? 1 : 0] = file.bytes();
  }
  EXPECT_TRUE(files[0] == files[1]);
  EXPECT_GT(files[0].size(), 0u);
}

// ---- What is not a trace ---------------------------------------------------------------------------------------

TEST(Trace, OtherFilesAreRefusedByName) {
  TempFile file;
  file.set_bytes({'#', '!', '/', 'b', 'i', 'n', '/', 's', 'h', '\n'});
  EXPECT_EQ(open_error(file.path()),
            file.path() + ": not a Loopfold trace (bad magic); record one with `loopfold record`");
  file.set_bytes({});
  EXPECT_EQ(open_error(file.path()),
            file.path() + ": not a Loopfold trace (too short: 0 bytes); record one with `loopfold record`");
  EXPECT_NE(open_error("/tmp").find("/tmp: not a Loopfold trace (not a regular file)"), std::string::npos);
  EXPECT_NE(open_error("/nowhere/trace.lft").find("/nowhere/trace.lft: cannot open: No such file"), std::string::npos);
}

TEST(Trace, OtherVersionsAreRefused) {
  TempFile file;
  write_story(file, 1, 10, 1, kGroupBytes);
  std::vector<char> bytes = file.bytes();
  const auto error_of = [&](std::uint32_t version) {
    const auto header = encode_file_header(version);
    std::copy(header.begin(), header.end(), bytes.begin());
    file.set_bytes(bytes);
    return open_error(file.path());
  };
  EXPECT_EQ(error_of(4),
            file.path() + ": written by format version 4, this reads up to 3; record again or use a newer loopfold");
  EXPECT_EQ(error_of(1), file.path() + ": written by format version 1, this reads version 3; record again");
  EXPECT_EQ(error_of(2), file.path() + ": written by format version 2, this reads version 3; record again");
}

/// The file of a small story with a chunk of unknown type as the last group.
void append_unknown_chunk(const TempFile& file, std::uint16_t flags) {
  {
    std::unique_ptr<Writer> writer = create(file);
    writer->side({0, 0, 0, ThreadStart{}});
  }
  std::vector<char> bytes = file.bytes();
  ChunkHeader header;
  header.type = 77;
  header.flags = flags;
  header.ordinal = 2;
  header.group = 2;
  header.raw_size = header.stored_size = 4;
  const std::vector<std::uint8_t> payload = {1, 2, 3, 4};
  header.payload_checksum = checksum(payload);
  const auto encoded = encode_chunk_header(header);
  bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  file.set_bytes(bytes);
}

TEST(Trace, UnknownChunksAreSkippedIfTheyMayBe) {
  TempFile file;
  append_unknown_chunk(file, kEndsGroup | kSkippable);
  const std::unique_ptr<Reader> reader = open(file);
  EXPECT_EQ(reader->damage(), "");
  EXPECT_EQ(walk(*reader).steps.size(), 1u);
}

TEST(Trace, UnknownChunksAreRefusedOtherwise) {
  TempFile file;
  append_unknown_chunk(file, kEndsGroup);
  EXPECT_NE(open_error(file.path()).find("was written by a newer version"), std::string::npos);
  append_unknown_chunk(file, kEndsGroup | kSkippable | 8);
  EXPECT_NE(open_error(file.path()).find("was written by a newer version"), std::string::npos);
}

// ---- Errors of the writer --------------------------------------------------------------------------------------

TEST(Trace, AFullDeviceIsAnErrorAtOnce) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  const Result<std::unique_ptr<Writer>> writer = Writer::create("/dev/full", {});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, ErrorKind::kEnvironment);
  EXPECT_NE(writer.error().message.find("/dev/full: write failed: No space left on device"), std::string::npos);
}

TEST(Trace, AnImpossiblePathIsAnError) {
  const Result<std::unique_ptr<Writer>> writer = Writer::create("/nowhere/trace.lft", {});
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message.find("/nowhere/trace.lft: cannot create"), std::string::npos);
}

TEST(Trace, AfterAFailedWriteTheGroupsBeforeAreReadable) {
  TempFile file;
  Story story(8);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  std::uint64_t written = 0;
  {
    std::unique_ptr<Writer> writer = create(file);
    writer->set_group_bytes(3000);
    rlimit limit = before;
    limit.rlim_cur = 20000;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    story.tell(*writer, 5000, 3);
    ASSERT_TRUE(writer->error());
    EXPECT_EQ(writer->error()->kind, ErrorKind::kEnvironment);
    EXPECT_NE(writer->error()->message.find("write failed: File too large"), std::string::npos);
    written = writer->bytes_written();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    writer->flush();
    writer->finish({});
  }
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(std::filesystem::file_size(file.path()), written);
  const std::unique_ptr<Reader> reader = open(file);
  EXPECT_TRUE(reader->partial());
  EXPECT_EQ(reader->damage(), "") << "cut back to the last whole group";
  const Walk found = walk(*reader);
  EXPECT_FALSE(found.error);
  ASSERT_GT(found.steps.size(), 100u);
  ASSERT_LT(found.steps.size(), story.steps.size());
  EXPECT_TRUE(std::equal(found.steps.begin(), found.steps.end(), story.steps.begin()));
}

TEST(Trace, CallsThatBreakTheRulesStopTheWriter) {
  const auto error_after = [](auto mistake) {
    TempFile file;
    std::unique_ptr<Writer> writer = create(file);
    writer->add_block(sample_block(0, 2));
    writer->add_exit(sample_exit(0, 0, 2));
    const std::uint64_t slots[] = {1, 2, 3};
    writer->event(0, 5, 0, slots);
    mistake(*writer);
    const ErrorKind kind = writer->error() ? writer->error()->kind : ErrorKind::kUsage;
    writer->event(0, 9, 0, slots);
    writer->finish({});
    EXPECT_EQ(walk(*open(file)).steps.size(), 1u) << "what came before is there, and nothing after";
    return kind == ErrorKind::kInternal;
  };
  const std::vector<std::uint64_t> three = {1, 2, 3};
  const std::vector<std::uint64_t> two = {1, 2};
  EXPECT_TRUE(error_after([&](Writer& w) { w.event(0, 5, 1, three); }));
  EXPECT_TRUE(error_after([&](Writer& w) { w.event(0, 5, 0, two); }));
  EXPECT_TRUE(error_after([&](Writer& w) { w.event(0, 4, 0, three); }));
  EXPECT_TRUE(error_after([&](Writer& w) { w.event(1, 5, 0, three); }));
  EXPECT_TRUE(error_after([&](Writer& w) { w.event(kNoThread, 6, 0, three); }));
  EXPECT_TRUE(error_after([&](Writer& w) { w.side({0, 4, 0, ThreadEnd{}}); }));
  EXPECT_TRUE(error_after([&](Writer& w) { w.side({0, 5, 0, Allocation{.stack = 0}}); }));
  EXPECT_TRUE(error_after([&](Writer& w) { w.add_block(sample_block(5, 1)); }));
  EXPECT_TRUE(error_after([&](Writer& w) { w.add_exit(sample_exit(1, 1, 1)); }));
}

}  // namespace
}  // namespace loopfold::trace
