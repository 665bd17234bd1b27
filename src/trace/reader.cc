// Opens a trace: scans the chunk headers, loads the descriptions, and finds out how far the file can be trusted.
//
// The scan goes from group to group. All that a group brings (descriptions, references to its chunks) is staged until
// its last chunk has been found sound, so the Reader only ever shows whole groups: if the file is cut off or damaged at
// any byte, it is a prefix of the trace that was being written. What can be checked without decoding runs is checked
// here (checksums, numbering, counts, the totals in the end record); what needs them, in the cursors.
//
// The file is read with pread and not mapped: a file that shrinks meanwhile is then a short read and not a signal.
// Sizes are believed only from a header whose checksum is right, and never beyond the limits in format.h.
#include "trace/reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "trace/info_codec.h"
#include "trace/reader_state.h"

namespace loopfold::trace {
namespace {

/// Fills `to` from the file; false if the file ends before, or cannot be read.
bool read_at(int fd, std::uint64_t offset, std::span<std::uint8_t> to) {
  while (!to.empty()) {
    const ssize_t got = ::pread(fd, to.data(), to.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    offset += static_cast<std::uint64_t>(got);
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

tl::unexpected<Error> not_a_trace(const std::string& path, const std::string& why) {
  return fail(ErrorKind::kBadInput,
              fmt::format("{}: not a Loopfold trace ({}); record one with `loopfold record`", path, why));
}

/// Why the scan ends before the end of the file.
struct Obstacle {
  enum class Kind { kDamaged, kCutOff, kNewer };
  Kind kind = Kind::kDamaged;
  std::string reason;
};

/// The scan of one file. Works on the Reader's state and on what the current group has brought so far.
class Scanner {
 public:
  Scanner(Reader::State& state, const OpenOptions& options) : state_(state), options_(options) {}

  Result<void> run();

 private:
  Result<void> read_file_header();
  std::optional<Obstacle> step();
  std::optional<Obstacle> frame(const ChunkHeader& header) const;
  Result<void> take(const ChunkRef& chunk);
  Result<void> take_runs(const ChunkRef& chunk);
  Result<void> take_values(const ChunkRef& chunk);
  Result<void> take_end(const ChunkRef& chunk);
  void begin_group();
  void commit_group();
  void roll_back();

  Reader::State& state_;
  OpenOptions options_;
  PayloadReader payloads_;
  std::uint64_t offset_ = kFileHeaderBytes;
  std::uint32_t next_chunk_ = 0;
  std::uint64_t next_group_ = 0;
  std::uint64_t last_slice_ = 0;
  std::uint64_t total_events_ = 0;
  std::uint64_t total_sides_ = 0;
  bool have_info_ = false;

  // The group that is being read, and what to go back to if it turns out not to be whole.
  Group group_;
  GroupSummary summary_;
  std::size_t group_chunks_ = 0;
  bool group_is_data_ = true;
  std::optional<EndInfo> end_;
  std::array<std::size_t, 4> described_{};
};

Result<void> Scanner::run() {
  if (Result<void> header = read_file_header(); !header) return header;
  begin_group();
  std::optional<Obstacle> obstacle;
  while (offset_ < state_.file_size && !(obstacle = step())) {
  }
  if (!obstacle && group_chunks_ != 0) obstacle = Obstacle{Obstacle::Kind::kCutOff, "between the chunks of a group"};
  if (obstacle && obstacle->kind == Obstacle::Kind::kNewer)
    return fail(ErrorKind::kBadInput,
                fmt::format("{}: {} at offset {} was written by a newer version; record again or use a newer loopfold",
                            state_.path, obstacle->reason, offset_));
  if (obstacle) {
    const char* const kind = obstacle->kind == Obstacle::Kind::kCutOff ? "cut off" : "damaged";
    state_.damage = fmt::format("{} at offset {}: {}", kind, offset_, obstacle->reason);
  }
  if (!have_info_) {
    if (obstacle && obstacle->kind == Obstacle::Kind::kDamaged)
      return fail(ErrorKind::kBadInput, fmt::format("{}: {}; record again", state_.path, state_.damage));
    return not_a_trace(state_.path, fmt::format("too short: {} bytes, no run information", state_.file_size));
  }
  roll_back();
  state_.shapes.forget_blocks();
  return {};
}

Result<void> Scanner::read_file_header() {
  std::array<std::uint8_t, kFileHeaderBytes> bytes{};
  const std::size_t size = std::min<std::uint64_t>(state_.file_size, bytes.size());
  if (!read_at(state_.fd, 0, std::span(bytes).first(size)))
    return fail(ErrorKind::kEnvironment, fmt::format("{}: cannot read: {}", state_.path, std::strerror(errno)));
  if (!std::equal(kFileMagic.begin(), kFileMagic.begin() + std::min(size, kFileMagic.size()), bytes.begin()))
    return not_a_trace(state_.path, "bad magic");
  if (size < bytes.size()) return not_a_trace(state_.path, fmt::format("too short: {} bytes", size));
  if (get_fixed<std::uint64_t>(bytes.data() + 24) != checksum(std::span(bytes).first(24)))
    return fail(ErrorKind::kBadInput,
                fmt::format("{}: damaged at offset 0: the file header's checksum is wrong; record again", state_.path));
  const std::uint32_t version = get_fixed<std::uint32_t>(bytes.data() + 8);
  if (version < kFormatVersion)
    return fail(ErrorKind::kBadInput,
                fmt::format("{}: written by format version {}, this reads version {}; record again", state_.path,
                            version, kFormatVersion));
  if (version > kFormatVersion)
    return fail(
        ErrorKind::kBadInput,
        fmt::format("{}: written by format version {}, this reads up to {}; record again or use a newer loopfold",
                    state_.path, version, kFormatVersion));
  return {};
}

/// Takes in one chunk, or says what is in the way.
std::optional<Obstacle> Scanner::step() {
  const std::uint64_t left = state_.file_size - offset_;
  if (state_.end) return Obstacle{Obstacle::Kind::kDamaged, "data behind the end record"};
  if (left < kChunkHeaderBytes) return Obstacle{Obstacle::Kind::kCutOff, "in a chunk header"};
  std::array<std::uint8_t, kChunkHeaderBytes> bytes{};
  ChunkRef chunk;
  chunk.offset = offset_;
  if (!read_at(state_.fd, offset_, bytes)) return Obstacle{Obstacle::Kind::kDamaged, "cannot be read"};
  if (!decode_chunk_header(bytes, chunk.header))
    return Obstacle{Obstacle::Kind::kDamaged, "the chunk header's checksum is wrong"};
  if (std::optional<Obstacle> obstacle = frame(chunk.header)) return obstacle;
  if (chunk.header.stored_size > left - kChunkHeaderBytes) return Obstacle{Obstacle::Kind::kCutOff, "in a chunk"};
  if (Result<void> taken = take(chunk); !taken) return Obstacle{Obstacle::Kind::kDamaged, taken.error().message};

  ++next_chunk_;
  ++group_chunks_;
  offset_ += kChunkHeaderBytes + chunk.header.stored_size;
  if ((chunk.header.flags & kEndsGroup) != 0) commit_group();
  return std::nullopt;
}

/// Checks a header against the chunks before it and the format's limits.
std::optional<Obstacle> Scanner::frame(const ChunkHeader& header) const {
  const bool known = header.type >= static_cast<std::uint16_t>(ChunkType::kRunInfo) &&
                     header.type <= static_cast<std::uint16_t>(ChunkType::kValues);
  if ((header.flags & ~kKnownFlags) != 0 || (!known && (header.flags & kSkippable) == 0))
    return Obstacle{Obstacle::Kind::kNewer, fmt::format("chunk type {} with flags {:#x}", header.type, header.flags)};
  if (header.ordinal != next_chunk_ || header.group != next_group_)
    return Obstacle{Obstacle::Kind::kDamaged, fmt::format("chunk {} of group {} where chunk {} of group {} is due",
                                                          header.ordinal, header.group, next_chunk_, next_group_)};
  const bool compressed = (header.flags & kZstd) != 0;
  if (header.raw_size > kMaxRawBytes ||
      (compressed ? header.stored_size >= header.raw_size : header.stored_size != header.raw_size))
    return Obstacle{Obstacle::Kind::kDamaged, "impossible chunk sizes"};
  const bool info = header.type == static_cast<std::uint16_t>(ChunkType::kRunInfo);
  const bool single = info || header.type == static_cast<std::uint16_t>(ChunkType::kEnd);
  if (info != (next_group_ == 0 && group_chunks_ == 0) ||
      (single && ((header.flags & kEndsGroup) == 0 || group_chunks_ != 0)))
    return Obstacle{Obstacle::Kind::kDamaged, "chunks in the wrong order"};
  if (header.first_slice < last_slice_) return Obstacle{Obstacle::Kind::kDamaged, "slices run backwards"};
  return std::nullopt;
}

/// Adds the chunk to the current group.
Result<void> Scanner::take(const ChunkRef& chunk) {
  const ChunkHeader& header = chunk.header;
  const ChunkType type = static_cast<ChunkType>(header.type);
  group_is_data_ = type != ChunkType::kRunInfo && type != ChunkType::kEnd;
  summary_.first_slice = std::min(summary_.first_slice, header.first_slice);
  switch (type) {
    case ChunkType::kRunInfo: {
      const Result<std::span<const std::uint8_t>> payload = payloads_.load(state_.fd, chunk);
      if (!payload) return tl::unexpected<Error>(payload.error());
      Result<RunInfo> info = decode_run_info(*payload);
      if (!info) return tl::unexpected<Error>(info.error());
      state_.info = std::move(*info);
      have_info_ = true;
      return {};
    }
    case ChunkType::kDescriptions: {
      if (group_.sides || !group_.threads.empty())
        return fail(ErrorKind::kBadInput, "descriptions behind the events of their group");
      const Result<std::span<const std::uint8_t>> payload = payloads_.load(state_.fd, chunk);
      if (!payload) return tl::unexpected<Error>(payload.error());
      return decode_descriptions(*payload, header.items, state_.descriptions, state_.shapes);
    }
    case ChunkType::kSideEvents:
      if (group_.sides || !group_.threads.empty()) return fail(ErrorKind::kBadInput, "side events in the wrong place");
      if (header.items > kMaxGroupSides) return fail(ErrorKind::kBadInput, "impossible number of side events");
      summary_.side_events = header.items;
      group_.sides = chunk;
      break;
    case ChunkType::kRuns:
      if (Result<void> taken = take_runs(chunk); !taken) return taken;
      break;
    case ChunkType::kValues:
      if (Result<void> taken = take_values(chunk); !taken) return taken;
      break;
    case ChunkType::kEnd:
      return take_end(chunk);
    default:
      break;  // skippable
  }
  return options_.check_events ? payloads_.check(state_.fd, chunk) : Result<void>();
}

Result<void> Scanner::take_runs(const ChunkRef& chunk) {
  const ChunkHeader& header = chunk.header;
  const auto same_thread = [&](const ThreadChunks& other) { return other.runs.header.thread == header.thread; };
  if (header.thread >= kMaxThreads || std::any_of(group_.threads.begin(), group_.threads.end(), same_thread))
    return fail(ErrorKind::kBadInput, fmt::format("a second chunk of runs of thread {}", header.thread));
  if (header.items == 0 || header.items > kMaxGroupEvents - summary_.events)
    return fail(ErrorKind::kBadInput, "impossible number of events");
  summary_.events += header.items;
  group_.threads.push_back({chunk, std::nullopt, state_.events_before(header.thread, state_.groups.size())});
  return {};
}

Result<void> Scanner::take_values(const ChunkRef& chunk) {
  if (group_.threads.empty() || group_.threads.back().values ||
      group_.threads.back().runs.header.thread != chunk.header.thread)
    return fail(ErrorKind::kBadInput, "values without the runs that they belong to");
  group_.threads.back().values = chunk;
  return {};
}

Result<void> Scanner::take_end(const ChunkRef& chunk) {
  const Result<std::span<const std::uint8_t>> payload = payloads_.load(state_.fd, chunk);
  if (!payload) return tl::unexpected<Error>(payload.error());
  Result<EndInfo> end = decode_end_info(*payload);
  if (!end) return tl::unexpected<Error>(end.error());
  if (end->events != total_events_ || end->side_events != total_sides_)
    return fail(ErrorKind::kBadInput, "the end record does not match the events before it");
  end_ = std::move(*end);
  return {};
}

void Scanner::begin_group() {
  const Descriptions& d = state_.descriptions;
  described_ = {d.modules.size(), d.blocks.size(), d.exits.size(), d.stacks.size()};
  group_ = {};
  group_chunks_ = 0;
  summary_ = {};
  summary_.first_slice = std::numeric_limits<std::uint64_t>::max();
  summary_.file_offset = offset_;
}

/// The group is whole: shows it to the world.
void Scanner::commit_group() {
  if (group_is_data_) {
    group_.exits = state_.descriptions.exits.size();
    group_.stacks = state_.descriptions.stacks.size();
    for (const ThreadChunks& chunks : group_.threads)
      state_.milestones[chunks.runs.header.thread].push_back(
          {state_.groups.size(), chunks.first_position + chunks.runs.header.items});
    summary_.stored_bytes = offset_ - summary_.file_offset;
    total_events_ += summary_.events;
    total_sides_ += summary_.side_events;
    state_.groups.push_back(std::move(group_));
    state_.summaries.push_back(summary_);
  }
  state_.end = std::move(end_);
  last_slice_ = summary_.first_slice;
  ++next_group_;
  begin_group();
}

/// Takes back what an unfinished group has described.
void Scanner::roll_back() {
  Descriptions& d = state_.descriptions;
  d.modules.resize(described_[0]);
  d.blocks.resize(described_[1]);
  d.exits.resize(described_[2]);
  d.stacks.resize(described_[3]);
  state_.shapes.shrink(described_[1], described_[2]);
}

}  // namespace

Result<void> PayloadReader::check(int fd, const ChunkRef& chunk) {
  stored_.resize(chunk.header.stored_size);
  if (!read_at(fd, chunk.offset + kChunkHeaderBytes, stored_))
    return fail(ErrorKind::kBadInput, "the file has become shorter");
  if (checksum(stored_) != chunk.header.payload_checksum)
    return fail(ErrorKind::kBadInput, "the payload's checksum is wrong");
  return {};
}

Result<void> PayloadReader::load(int fd, const ChunkRef& chunk, std::vector<std::uint8_t>& to) {
  if (Result<void> sound = check(fd, chunk); !sound) return sound;
  if ((chunk.header.flags & kZstd) == 0) {
    to.swap(stored_);
    return {};
  }
  if (ZSTD_getFrameContentSize(stored_.data(), stored_.size()) != chunk.header.raw_size)
    return fail(ErrorKind::kBadInput, "the payload has another size than its header says");
  to.resize(chunk.header.raw_size);
  const std::size_t size = ZSTD_decompressDCtx(zstd_, to.data(), to.size(), stored_.data(), stored_.size());
  if (ZSTD_isError(size) != 0 || size != to.size()) return fail(ErrorKind::kBadInput, "the payload is not zstd data");
  return {};
}

Reader::State::~State() {
  if (fd >= 0) ::close(fd);
}

std::uint64_t Reader::State::events_before(ThreadId thread, std::size_t group) const {
  const auto found = milestones.find(thread);
  if (found == milestones.end()) return 0;
  const std::vector<ThreadMilestone>& passed = found->second;
  const auto after = std::partition_point(
      passed.begin(), passed.end(), [group](const ThreadMilestone& milestone) { return milestone.group < group; });
  return after == passed.begin() ? 0 : std::prev(after)->events;
}

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path, OpenOptions options) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (state->fd < 0 || ::fstat(state->fd, &status) != 0)
    return fail(ErrorKind::kBadInput,
                fmt::format("{}: cannot open: {}; record one with `loopfold record`", path, std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) return not_a_trace(path, "not a regular file");
  state->file_size = static_cast<std::uint64_t>(status.st_size);
  if (Result<void> scanned = Scanner(*state, options).run(); !scanned) return tl::unexpected<Error>(scanned.error());
  return std::unique_ptr<Reader>(new Reader(std::move(state)));
}

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::~Reader() = default;

const RunInfo& Reader::info() const { return state_->info; }
const std::optional<EndInfo>& Reader::end() const { return state_->end; }
bool Reader::partial() const { return !state_->end || !state_->damage.empty(); }
const std::string& Reader::damage() const { return state_->damage; }
const std::vector<Module>& Reader::modules() const { return state_->descriptions.modules; }
const std::vector<Block>& Reader::blocks() const { return state_->descriptions.blocks; }
const std::vector<Exit>& Reader::exits() const { return state_->descriptions.exits; }
const std::vector<CallStack>& Reader::stacks() const { return state_->descriptions.stacks; }
const std::vector<GroupSummary>& Reader::groups() const { return state_->summaries; }
std::uint64_t Reader::file_bytes() const { return state_->file_size; }

}  // namespace loopfold::trace
