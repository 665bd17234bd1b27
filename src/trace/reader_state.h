// What Reader (reader.cc) and RunCursor (run_cursor.cc) share: the open file and the index of its groups. Not for
// others.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/result.h"
#include "trace/codec.h"
#include "trace/format.h"
#include "trace/reader.h"

namespace loopfold::trace {

/// A chunk whose header was found sound.
struct ChunkRef {
  std::uint64_t offset = 0;  // of the header
  ChunkHeader header;
};

/// The runs of one thread in one group.
struct ThreadChunks {
  ChunkRef runs;
  std::optional<ChunkRef> values;
  std::uint64_t first_position = 0;  // how many events the thread has before them
};

/// A whole group and what was described when it ended.
struct Group {
  std::optional<ChunkRef> sides;
  std::vector<ThreadChunks> threads;
  std::size_t exits = 0;
  std::size_t stacks = 0;
};

/// After `group`, the thread has `events` events.
struct ThreadMilestone {
  std::size_t group = 0;
  std::uint64_t events = 0;
};

/// Reads payloads, keeping its buffers from chunk to chunk.
class PayloadReader {
 public:
  PayloadReader() : zstd_(ZSTD_createDCtx()) {}
  ~PayloadReader() { ZSTD_freeDCtx(zstd_); }
  PayloadReader(const PayloadReader&) = delete;
  PayloadReader& operator=(const PayloadReader&) = delete;

  /// Reads the stored payload and compares its checksum.
  Result<void> check(int fd, const ChunkRef& chunk);
  /// check(), and replaces `to` by the decompressed payload.
  Result<void> load(int fd, const ChunkRef& chunk, std::vector<std::uint8_t>& to);
  /// The same, into a buffer that is valid until the next call.
  Result<std::span<const std::uint8_t>> load(int fd, const ChunkRef& chunk) {
    return load(fd, chunk, raw_).map([this] { return std::span<const std::uint8_t>(raw_); });
  }

 private:
  ZSTD_DCtx* zstd_;
  std::vector<std::uint8_t> stored_;
  std::vector<std::uint8_t> raw_;
};

struct Reader::State {
  std::string path;
  int fd = -1;
  std::uint64_t file_size = 0;
  RunInfo info;
  std::optional<EndInfo> end;
  std::string damage;
  Descriptions descriptions;
  Shapes shapes;
  std::vector<Group> groups;
  std::vector<GroupSummary> summaries;
  std::unordered_map<ThreadId, std::vector<ThreadMilestone>> milestones;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  /// How many events the thread has before the group.
  std::uint64_t events_before(ThreadId thread, std::size_t group) const;
};

}  // namespace loopfold::trace
