// Walks the runs of a trace in the global order, one group in memory at a time.
//
// Of a group, the bytes of its chunks are loaded and checked at once, and its order is worked out; runs are decoded one
// by one when they are due, each thread's by a decoder of its own. No run goes beyond a slice, so the slices of all
// threads, sorted, say whose run is next, and a side event, which says how many events of the group precede it, stands
// either between two runs or inside one.
//
// Putting the threads together is exact: a slice has events of one thread only. With one thread selected the other
// threads' chunks are not read; positions among the thread's own events then say the same. Before anything of a group
// is shown, slices, side events and the counts in the headers are checked against each other.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include "trace/reader.h"
#include "trace/reader_state.h"
#include "trace/run_body.h"
#include "trace/run_decoder.h"

namespace loopfold::trace {

struct RunCursor::State {
  /// A thread's chunks and how far they were decoded.
  struct Stream {
    Stream(const Shapes& shapes, RunBody& scratch) : decoder(shapes, scratch) {}
    const ThreadChunks* chunks = nullptr;
    std::vector<std::uint8_t> runs;
    std::vector<std::uint8_t> values;
    ChunkDecoder decoder;
  };
  struct Slice {
    std::uint64_t slice = 0;
    std::uint64_t events = 0;
    std::size_t stream = 0;
  };

  const Reader::State* reader = nullptr;
  CursorOptions options;
  std::size_t next_group = 0;
  PayloadReader payloads;
  RunBody scratch;

  // The group in memory. The first `stream_count` streams are in use.
  std::vector<std::unique_ptr<Stream>> streams;
  std::size_t stream_count = 0;
  std::vector<Slice> slices;
  std::vector<PlacedSide> sides;
  std::size_t next_slice = 0;
  std::size_t next_side = 0;
  std::uint64_t ordinal = 0;     // events of the group that were delivered
  std::uint64_t slice_left = 0;  // of slices[next_slice - 1]

  Run run;
  SideEvent side_event;
  std::optional<Error> error;

  Result<Item> next();
  Result<Item> deliver_run();
  Result<void> load_group();
  Result<void> load_thread(const Group& group, const ThreadChunks& chunks);
  Result<void> load_sides(const Group& group, const ChunkRef& chunk, std::size_t index);
  Result<void> check_order(std::size_t index) const;
  tl::unexpected<Error> damaged(const ChunkRef& chunk, const std::string& reason) const;
};

tl::unexpected<Error> RunCursor::State::damaged(const ChunkRef& chunk, const std::string& reason) const {
  return fail(ErrorKind::kBadInput,
              fmt::format("{}: damaged at offset {}: {}; record again", reader->path, chunk.offset, reason));
}

Result<RunCursor::Item> RunCursor::State::next() {
  for (;;) {
    if (next_side < sides.size() && sides[next_side].ordinal == ordinal) {
      side_event = std::move(sides[next_side++].side);
      return Item::kSide;
    }
    if (slice_left == 0 && next_slice < slices.size()) slice_left = slices[next_slice++].events;
    if (slice_left != 0) return deliver_run();
    if (error) return tl::unexpected<Error>(*error);
    if (next_group >= reader->groups.size()) return Item::kEnd;
    if (Result<void> loaded = load_group(); !loaded) {
      error = loaded.error();
      slices.clear();
      sides.clear();
    }
  }
}

Result<RunCursor::Item> RunCursor::State::deliver_run() {
  Stream& stream = *streams[slices[next_slice - 1].stream];
  if (!stream.decoder.next(run)) {
    error = damaged(stream.chunks->runs, stream.decoder.problem()).value();
    slices.clear();
    sides.clear();
    slice_left = 0;
    next_slice = next_side = 0;
    return tl::unexpected<Error>(*error);
  }
  const std::uint64_t end = ordinal + run.events;
  const std::size_t first = next_side;
  for (; next_side < sides.size() && sides[next_side].ordinal < end; ++next_side) sides[next_side].ordinal -= ordinal;
  run.sides = {sides.data() + first, next_side - first};
  ordinal = end;
  slice_left -= run.events;
  return Item::kRun;
}

/// Loads the next group and works out its order.
Result<void> RunCursor::State::load_group() {
  const std::size_t index = next_group++;
  const Group& group = reader->groups[index];
  stream_count = 0;
  slices.clear();
  sides.clear();
  next_slice = next_side = 0;
  ordinal = slice_left = 0;
  for (const ThreadChunks& chunks : group.threads) {
    if (options.thread && *options.thread != chunks.runs.header.thread) continue;
    if (Result<void> loaded = load_thread(group, chunks); !loaded) return loaded;
  }
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.slice < b.slice; });
  const auto shared = std::adjacent_find(slices.begin(), slices.end(),
                                         [](const Slice& a, const Slice& b) { return a.slice == b.slice; });
  if (shared != slices.end())
    return damaged(group.threads.front().runs, fmt::format("slice {} has events of two threads", shared->slice));
  return group.sides ? load_sides(group, *group.sides, index) : Result<void>();
}

Result<void> RunCursor::State::load_thread(const Group& group, const ThreadChunks& chunks) {
  if (stream_count == streams.size()) streams.push_back(std::make_unique<Stream>(reader->shapes, scratch));
  Stream& to = *streams[stream_count];
  to.chunks = &chunks;
  to.values.clear();
  if (const Result<void> loaded = payloads.load(reader->fd, chunks.runs, to.runs); !loaded)
    return damaged(chunks.runs, loaded.error().message);
  if (chunks.values && !options.control_only) {
    if (const Result<void> loaded = payloads.load(reader->fd, *chunks.values, to.values); !loaded)
      return damaged(*chunks.values, loaded.error().message);
  }
  const ChunkHeader& header = chunks.runs.header;
  const Result<void> begun =
      to.decoder.begin({to.runs, to.values, header.thread, header.items, group.exits, options.control_only});
  if (!begun) return damaged(chunks.runs, begun.error().message);
  if (to.decoder.first_position() != chunks.first_position)
    return damaged(chunks.runs, fmt::format("events from {} on where {} is due", to.decoder.first_position(),
                                            chunks.first_position));
  if (to.decoder.slices().front().slice != header.first_slice)
    return damaged(chunks.runs, "the first slice is another than the header says");
  for (const SliceEvents& part : to.decoder.slices()) slices.push_back({part.slice, part.events, stream_count});
  ++stream_count;
  return {};
}

Result<void> RunCursor::State::load_sides(const Group& group, const ChunkRef& chunk, std::size_t index) {
  const Result<std::span<const std::uint8_t>> payload = payloads.load(reader->fd, chunk);
  if (!payload) return damaged(chunk, payload.error().message);
  const Result<void> decoded = decode_sides(*payload, chunk.header.items, group.stacks, sides);
  if (!decoded) return damaged(chunk, decoded.error().message);
  if (!sides.empty() && sides.front().side.slice != chunk.header.first_slice)
    return damaged(chunk, "the first slice is another than the header says");
  if (options.thread) {
    const std::uint64_t before = reader->events_before(*options.thread, index);
    std::erase_if(sides, [this](const PlacedSide& placed) { return placed.side.thread != *options.thread; });
    for (PlacedSide& placed : sides) placed.ordinal = placed.side.position - before;
  }
  const Result<void> ordered = check_order(index);
  if (!ordered) return damaged(chunk, ordered.error().message);
  return {};
}

/// Walks slices and side events together: does each side event stand where its slice and its position say?
Result<void> RunCursor::State::check_order(std::size_t index) const {
  const auto misplaced = [](const SideEvent& event) {
    return fail(ErrorKind::kBadInput, fmt::format("a side event of thread {} at position {} in slice {} is misplaced",
                                                  event.thread, event.position, event.slice));
  };
  const auto thread_at = [this](std::size_t slice) {
    return streams[slices[slice].stream]->chunks->runs.header.thread;
  };
  std::unordered_map<ThreadId, std::uint64_t> passed;  // events of the thread, from the start of the trace
  for (std::size_t i = 0; i < stream_count; ++i)
    passed[streams[i]->chunks->runs.header.thread] = streams[i]->chunks->first_position;
  std::size_t at = 0;        // slices[at] is the first slice that is not wholly before the side event
  std::uint64_t before = 0;  // events in the slices before slices[at]
  std::uint64_t last = 0;
  for (const PlacedSide& placed : sides) {
    if (placed.ordinal < last) return misplaced(placed.side);
    last = placed.ordinal;
    for (; at < slices.size() && before + slices[at].events <= placed.ordinal; ++at) {
      before += slices[at].events;
      passed[thread_at(at)] += slices[at].events;
    }
    const std::uint64_t within = placed.ordinal - before;
    if (at == slices.size() && within != 0) return misplaced(placed.side);
    if (at > 0 && placed.side.slice < slices[at - 1].slice) return misplaced(placed.side);
    if (at < slices.size() && placed.side.slice > slices[at].slice) return misplaced(placed.side);
    if (within != 0 && placed.side.slice != slices[at].slice) return misplaced(placed.side);
    const auto known = passed.find(placed.side.thread);
    std::uint64_t position = known != passed.end() ? known->second : reader->events_before(placed.side.thread, index);
    if (within != 0 && thread_at(at) == placed.side.thread) position += within;
    if (position != placed.side.position) return misplaced(placed.side);
  }
  return {};
}

RunCursor::RunCursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunCursor::RunCursor(RunCursor&&) noexcept = default;
RunCursor::~RunCursor() = default;

Result<RunCursor::Item> RunCursor::next() { return state_->next(); }
const Run& RunCursor::run() const { return state_->run; }
const SideEvent& RunCursor::side() const { return state_->side_event; }
std::size_t RunCursor::group() const { return state_->next_group - 1; }

RunCursor Reader::runs(CursorOptions options) const {
  auto state = std::make_unique<RunCursor::State>();
  state->reader = state_.get();
  state->options = options;
  state->next_group = options.first_group;
  return RunCursor(std::move(state));
}

}  // namespace loopfold::trace
