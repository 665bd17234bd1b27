// Traces that were cut off, flipped, or put together wrongly: an Error, a partial trace or the right contents, never
// anything else.
#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "trace/codec.h"
#include "trace/format.h"
#include "trace/info_codec.h"
#include "trace/reader.h"
#include "trace/run_codec.h"
#include "trace/testing.h"
#include "trace/writer.h"

namespace loopfold::trace {
namespace {

using testing::sample_block;
using testing::sample_exit;
using testing::Story;
using testing::TempFile;
using testing::Walk;
using testing::walk;

/// A small trace of several groups with everything in it.
Story write_small(const TempFile& file) {
  Story story(42);
  Result<std::unique_ptr<Writer>> writer = Writer::create(file.path(), testing::sample_info());
  EXPECT_TRUE(writer);
  (*writer)->set_group_bytes(1500);
  story.tell(**writer, 150, 3);
  (*writer)->finish({});
  EXPECT_FALSE((*writer)->error());
  return story;
}

bool is_prefix(const Walk& found, const Story& story) {
  return found.steps.size() <= story.steps.size() &&
         std::equal(found.steps.begin(), found.steps.end(), story.steps.begin());
}

template <typename T>
bool is_prefix(const std::vector<T>& found, const std::vector<T>& all) {
  return found.size() <= all.size() && std::equal(found.begin(), found.end(), all.begin());
}

TEST(Damage, EveryPrefixIsAnErrorOrAPartialTrace) {
  TempFile file;
  const Story story = write_small(file);
  const std::vector<char> bytes = file.bytes();
  TempFile cut;
  std::size_t last_steps = 0;
  std::size_t errors = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    cut.set_bytes(std::vector<char>(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
    const Result<std::unique_ptr<Reader>> reader = Reader::open(cut.path());
    if (!reader) {
      EXPECT_NE(reader.error().message.find("too short"), std::string::npos) << reader.error().message;
      EXPECT_EQ(errors++, size) << "only the very beginning is needed";
      continue;
    }
    EXPECT_TRUE((*reader)->partial());
    EXPECT_TRUE(is_prefix((*reader)->blocks(), story.blocks));
    EXPECT_TRUE(is_prefix((*reader)->exits(), story.exits));
    EXPECT_TRUE(is_prefix((*reader)->stacks(), story.stacks));
    const Walk found = walk(**reader);
    EXPECT_FALSE(found.error) << found.error->message;
    EXPECT_TRUE(is_prefix(found, story)) << size;
    EXPECT_GE(found.steps.size(), last_steps);
    last_steps = found.steps.size();
  }
  EXPECT_EQ(last_steps, story.steps.size());
}

/// Opens and walks a damaged file: it is whole, or says itself that it is not.
void expect_honest(const TempFile& file, const Story& story, const OpenOptions& options) {
  const Result<std::unique_ptr<Reader>> reader = Reader::open(file.path(), options);
  if (!reader) {
    EXPECT_FALSE(reader.error().message.empty());
    return;
  }
  const Walk found = walk(**reader);
  EXPECT_TRUE(is_prefix(found, story));
  EXPECT_FALSE(options.check_events && found.error) << found.error->message;
  if ((*reader)->partial() || found.error) return;
  EXPECT_TRUE(found.steps == story.steps);
  EXPECT_EQ((*reader)->blocks(), story.blocks);
  EXPECT_EQ((*reader)->exits(), story.exits);
}

TEST(Damage, FlippedBitsAreNoticed) {
  TempFile file;
  const Story story = write_small(file);
  const std::vector<char> bytes = file.bytes();
  TempFile flipped;
  std::mt19937_64 random(1);
  for (int round = 0; round < 10000; ++round) {
    std::vector<char> changed = bytes;
    const std::uint64_t flips = 1 + (round % 4 == 0 ? random() % 8 : 0);
    for (std::uint64_t i = 0; i < flips; ++i)
      changed[random() % changed.size()] ^= static_cast<char>(1u << (random() % 8));
    flipped.set_bytes(changed);
    expect_honest(flipped, story, {round % 2 == 0});
  }
}

TEST(Damage, DamageIsNamedWithItsOffset) {
  TempFile file;
  const Story story = write_small(file);
  std::vector<char> bytes = file.bytes();
  std::vector<GroupSummary> groups;
  {
    const Result<std::unique_ptr<Reader>> reader = Reader::open(file.path());
    ASSERT_TRUE(reader);
    groups = (*reader)->groups();
  }
  ASSERT_GT(groups.size(), 3u);
  const std::uint64_t offset = groups[2].file_offset;
  bytes[offset + kChunkHeaderBytes + 3] ^= 1;
  file.set_bytes(bytes);
  const Result<std::unique_ptr<Reader>> reader = Reader::open(file.path());
  ASSERT_TRUE(reader);
  EXPECT_TRUE((*reader)->partial());
  EXPECT_EQ((*reader)->damage(), "damaged at offset " + std::to_string(offset) + ": the payload's checksum is wrong");
  EXPECT_EQ((*reader)->groups().size(), 2u);
  EXPECT_TRUE(is_prefix(walk(**reader), story));
}

TEST(Damage, OtherThreadsChunksAreNotReadForOneThread) {
  TempFile file;
  const Story story = write_small(file);
  std::vector<char> bytes = file.bytes();
  std::size_t damaged = 0;
  for (std::size_t offset = kFileHeaderBytes; offset < bytes.size();) {
    std::array<std::uint8_t, kChunkHeaderBytes> encoded{};
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), kChunkHeaderBytes, encoded.begin());
    ChunkHeader header;
    ASSERT_TRUE(decode_chunk_header(encoded, header));
    if (header.type == static_cast<std::uint16_t>(ChunkType::kRuns) && header.thread != 0) {
      bytes[offset + kChunkHeaderBytes] ^= 1;
      ++damaged;
    }
    offset += kChunkHeaderBytes + header.stored_size;
  }
  ASSERT_GT(damaged, 0u);
  file.set_bytes(bytes);
  const Result<std::unique_ptr<Reader>> reader = Reader::open(file.path(), {.check_events = false});
  ASSERT_TRUE(reader);
  EXPECT_TRUE(walk(**reader).error);
  std::vector<testing::Step> expected;
  for (const testing::Step& step : story.steps) {
    if (testing::thread_of(step) == 0) expected.push_back(step);
  }
  CursorOptions options;
  options.thread = 0;
  const Walk found = walk(**reader, options);
  EXPECT_FALSE(found.error);
  EXPECT_TRUE(found.steps == expected);
}

TEST(Damage, SwappedMissingAndRepeatedGroupsAreNoticed) {
  TempFile file;
  const Story story = write_small(file);
  const std::vector<char> bytes = file.bytes();
  const Result<std::unique_ptr<Reader>> whole = Reader::open(file.path());
  ASSERT_TRUE(whole);
  const GroupSummary group = (*whole)->groups()[1];
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(group.file_offset);
  const auto end = begin + static_cast<std::ptrdiff_t>(group.stored_bytes);

  std::vector<char> missing(bytes.begin(), begin);
  missing.insert(missing.end(), end, bytes.end());
  std::vector<char> repeated(bytes.begin(), end);
  repeated.insert(repeated.end(), begin, bytes.end());
  std::vector<char> longer = bytes;
  longer.push_back(0);
  for (const std::vector<char>& changed : {missing, repeated, longer}) {
    TempFile wrong;
    wrong.set_bytes(changed);
    const Result<std::unique_ptr<Reader>> reader = Reader::open(wrong.path());
    ASSERT_TRUE(reader);
    EXPECT_TRUE((*reader)->partial());
    EXPECT_NE((*reader)->damage(), "");
    EXPECT_TRUE(is_prefix(walk(**reader), story));
  }
}

TEST(Damage, AFileThatShrinksUnderACursorIsAnError) {
  TempFile file;
  write_small(file);
  const Result<std::unique_ptr<Reader>> reader = Reader::open(file.path());
  ASSERT_TRUE(reader);
  const std::uint64_t offset = (*reader)->groups()[1].file_offset;
  std::filesystem::resize_file(file.path(), offset + 10);
  Cursor cursor = (*reader)->cursor();
  Result<Cursor::Item> item = cursor.next();
  while (item && *item != Cursor::Item::kEnd) item = cursor.next();
  ASSERT_FALSE(item);
  EXPECT_NE(item.error().message.find("damaged at offset"), std::string::npos);
  EXPECT_FALSE(cursor.next()) << "an error is final";
}

// ---- Files with right checksums and wrong contents -------------------------------------------------------------

/// Builds a file chunk by chunk, with checksums that are right whatever the contents.
class Forger {
 public:
  Forger() {
    const auto header = encode_file_header();
    bytes_.assign(header.begin(), header.end());
    const std::string json = encode_run_info({});
    chunk({static_cast<std::uint16_t>(ChunkType::kRunInfo), kEndsGroup}, {json.begin(), json.end()});
  }

  /// Completes the header; `raw_size` stays if it was set.
  void chunk(ChunkHeader header, const std::vector<std::uint8_t>& payload) {
    header.ordinal = ordinal_++;
    header.group = group_;
    header.stored_size = static_cast<std::uint32_t>(payload.size());
    if (header.raw_size == 0) header.raw_size = header.stored_size;
    header.payload_checksum = checksum(payload);
    const auto encoded = encode_chunk_header(header);
    bytes_.insert(bytes_.end(), encoded.begin(), encoded.end());
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    if ((header.flags & kEndsGroup) != 0) ++group_;
  }

  void descriptions() {
    ByteWriter out;
    encode_block(sample_block(0, 0), out);
    encode_exit(sample_exit(0, 0, 0), out);
    ChunkHeader header{static_cast<std::uint16_t>(ChunkType::kDescriptions)};
    header.items = 2;
    chunk(header, {out.bytes().begin(), out.bytes().end()});
  }

  /// One thread's events, all with exit 0, each a literal.
  void events(ThreadId thread, std::uint64_t first_position, const std::vector<SliceEvents>& slices,
              std::uint16_t flags, std::uint64_t items_more = 0) {
    Shapes shapes;
    EXPECT_TRUE(shapes.add_block(sample_block(0, 0)));
    EXPECT_TRUE(shapes.add_exit(sample_exit(0, 0, 0)));
    ChunkEncoder encoder(shapes);
    std::uint64_t events = 0;
    for (const SliceEvents& part : slices) events += part.events;
    for (std::uint64_t i = 0; i < events; ++i) encoder.literal(std::vector<ExitId>{0}, {});
    ByteWriter out;
    ByteWriter values;
    encoder.finish(first_position, slices, out, values);
    ChunkHeader header{static_cast<std::uint16_t>(ChunkType::kRuns), flags, thread};
    header.first_slice = slices.front().slice;
    header.items = events + items_more;
    chunk(header, {out.bytes().begin(), out.bytes().end()});
  }

  void side(std::uint64_t ordinal, const SideEvent& event) {
    ByteWriter out;
    SideContext context;
    encode_side({ordinal, event}, context, out);
    ChunkHeader header{static_cast<std::uint16_t>(ChunkType::kSideEvents)};
    header.first_slice = event.slice;
    header.items = 1;
    chunk(header, {out.bytes().begin(), out.bytes().end()});
  }

  /// "" if the file opens and walks, else why not.
  std::string complaint() const {
    TempFile file;
    file.set_bytes(bytes_);
    const Result<std::unique_ptr<Reader>> reader = Reader::open(file.path());
    if (!reader) return reader.error().message;
    if (!(*reader)->damage().empty()) return (*reader)->damage();
    const Walk found = walk(**reader);
    return found.error ? found.error->message : "";
  }

 private:
  std::vector<char> bytes_;
  std::uint32_t ordinal_ = 0;
  std::uint64_t group_ = 0;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Forged, ASoundFileIsAccepted) {
  Forger file;
  file.descriptions();
  file.side(2, {1, 4, 0, ThreadStart{}});
  file.events(0, 0, {{3, 1}, {5, 2}}, 0);
  file.events(1, 0, {{4, 2}}, kEndsGroup);
  EXPECT_NE(file.complaint(), "") << "thread 1 has one event before its side event";

  Forger right;
  right.descriptions();
  right.side(2, {1, 4, 1, ThreadStart{}});
  right.events(0, 0, {{3, 1}, {5, 2}}, 0);
  right.events(1, 0, {{4, 2}}, kEndsGroup);
  EXPECT_EQ(right.complaint(), "");
}

TEST(Forged, PositionsMustContinue) {
  Forger file;
  file.descriptions();
  file.events(0, 1, {{3, 4}}, kEndsGroup);
  EXPECT_TRUE(contains(file.complaint(), "events from 1 on where 0 is due"));
}

TEST(Forged, SlicesBelongToOneThread) {
  Forger file;
  file.descriptions();
  file.events(0, 0, {{3, 4}}, 0);
  file.events(1, 0, {{3, 4}}, kEndsGroup);
  EXPECT_TRUE(contains(file.complaint(), "slice 3 has events of two threads"));
}

TEST(Forged, CountsMustMatch) {
  Forger more;
  more.descriptions();
  more.events(0, 0, {{3, 4}}, kEndsGroup, 1);
  EXPECT_TRUE(contains(more.complaint(), "slices and events do not match"));
  Forger huge;
  huge.descriptions();
  huge.events(0, 0, {{3, 4}}, kEndsGroup, kMaxGroupEvents);
  EXPECT_TRUE(contains(huge.complaint(), "impossible number of events"));
  Forger twice;
  twice.descriptions();
  twice.events(0, 0, {{3, 4}}, 0);
  twice.events(0, 4, {{4, 4}}, kEndsGroup);
  EXPECT_TRUE(contains(twice.complaint(), "a second chunk of runs of thread 0"));
}

TEST(Forged, SideEventsStandWhereTheySay) {
  const std::vector<std::pair<std::uint64_t, SideEvent>> wrong = {
      {9, {0, 3, 9, ThreadEnd{}}}, {1, {0, 3, 2, ThreadEnd{}}}, {0, {0, 4, 0, ThreadEnd{}}},
      {4, {0, 2, 4, ThreadEnd{}}}, {2, {7, 3, 5, ThreadEnd{}}},
  };
  for (const auto& [ordinal, event] : wrong) {
    Forger file;
    file.descriptions();
    file.side(ordinal, event);
    file.events(0, 0, {{3, 4}}, kEndsGroup);
    EXPECT_TRUE(contains(file.complaint(), "misplaced")) << ordinal;
  }
}

TEST(Forged, DescriptionsComeBeforeEvents) {
  Forger unknown;
  unknown.events(0, 0, {{3, 4}}, kEndsGroup);
  EXPECT_TRUE(contains(unknown.complaint(), "malformed paths or loops"));
  Forger late;
  late.events(0, 0, {{3, 4}}, 0);
  late.descriptions();
  EXPECT_TRUE(contains(late.complaint(), "descriptions behind the events"));
}

TEST(Forged, ValuesFollowTheirRuns) {
  const ChunkHeader values{static_cast<std::uint16_t>(ChunkType::kValues), 0, 0};
  Forger alone;
  alone.descriptions();
  alone.chunk(values, {0});
  EXPECT_TRUE(contains(alone.complaint(), "values without the runs"));
  Forger other;
  other.descriptions();
  other.events(1, 0, {{3, 4}}, 0);
  other.chunk(values, {0});
  EXPECT_TRUE(contains(other.complaint(), "values without the runs"));
  Forger twice;
  twice.descriptions();
  twice.events(0, 0, {{3, 4}}, 0);
  twice.chunk(values, {0});
  twice.chunk(values, {0});
  EXPECT_TRUE(contains(twice.complaint(), "values without the runs"));
}

TEST(Forged, SizesAreNotBelieved) {
  Forger large;
  ChunkHeader header{static_cast<std::uint16_t>(ChunkType::kDescriptions), kEndsGroup | kZstd};
  header.raw_size = kMaxRawBytes + 1;
  large.chunk(header, {1, 2, 3});
  EXPECT_TRUE(contains(large.complaint(), "impossible chunk sizes"));

  std::vector<std::uint8_t> zeros(5000);
  std::vector<std::uint8_t> frame(ZSTD_compressBound(zeros.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), zeros.data(), zeros.size(), 1));
  Forger other;
  header.raw_size = 200 << 20;
  other.chunk(header, frame);
  EXPECT_TRUE(contains(other.complaint(), "another size than its header says"));

  Forger garbage;
  garbage.chunk(header, {1, 2, 3});
  EXPECT_NE(garbage.complaint(), "");
}

}  // namespace
}  // namespace loopfold::trace
