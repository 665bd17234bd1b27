// Walks a trace in the global order, one group in memory at a time.
//
// A group is decoded into flat arrays when the cursor comes to it. Its order is then a list of *stretches*: so many
// events of one thread in one slice, interrupted where a side event stands. next() is a counter and two pointers within
// a stretch; all decisions are made between stretches.
//
// Putting the threads together is exact: a slice has events of one thread only, so the runs of all threads sorted by
// slice are the order of events, and a side event says how many events of the group precede it. With one thread
// selected the other threads' chunks are not read; positions among the thread's own events then say the same. Before
// anything of a group is shown, the two are checked against each other, and against the counts in the headers.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include "trace/event_codec.h"
#include "trace/reader.h"
#include "trace/reader_state.h"

namespace loopfold::trace {

struct Cursor::State {
  /// A thread's decoded chunk and how far it was consumed.
  struct Stream {
    ThreadId thread = 0;
    EventColumns columns;
    std::size_t next_event = 0;
    std::size_t next_slot = 0;
  };
  struct Run {
    std::uint64_t slice = 0;
    std::uint64_t events = 0;
    std::size_t stream = 0;
  };

  const Reader::State* reader = nullptr;
  CursorOptions options;
  std::size_t next_group = 0;
  PayloadReader payloads;
  EventDecoder decoder;

  // The group in memory. The first `stream_count` streams are in use.
  std::vector<std::unique_ptr<Stream>> streams;
  std::size_t stream_count = 0;
  std::vector<Run> runs;
  std::vector<PlacedSide> sides;
  std::size_t run = 0;
  std::size_t next_run = 0;
  std::size_t side = 0;
  std::uint64_t ordinal = 0;   // events of the group that were delivered or are in the current stretch
  std::uint64_t run_left = 0;  // events of runs[run] that are in no stretch yet

  // The current stretch.
  std::uint64_t stretch_left = 0;
  Stream* stream = nullptr;
  const ExitId* exit = nullptr;
  const std::uint64_t* slot = nullptr;
  const ExitShape* shapes = nullptr;

  Event event;
  SideEvent side_event;
  std::optional<Error> error;

  Result<Item> between_stretches();
  void begin_stretch(std::uint64_t events);
  void end_stretch();
  Result<void> load_group();
  Result<void> load_events(const Group& group, const ChunkRef& chunk);
  Result<void> load_sides(const Group& group, const ChunkRef& chunk, std::size_t index);
  Result<void> check_order(std::size_t index) const;
  tl::unexpected<Error> damaged(const ChunkRef& chunk, const std::string& reason) const;
};

tl::unexpected<Error> Cursor::State::damaged(const ChunkRef& chunk, const std::string& reason) const {
  return fail(ErrorKind::kBadInput,
              fmt::format("{}: damaged at offset {}: {}; record again", reader->path, chunk.offset, reason));
}

Result<Cursor::Item> Cursor::State::between_stretches() {
  end_stretch();
  for (;;) {
    if (error) return tl::unexpected<Error>(*error);
    if (side < sides.size() && sides[side].ordinal == ordinal) {
      side_event = std::move(sides[side++].side);
      return Item::kSide;
    }
    if (run_left == 0 && next_run < runs.size()) {
      run = next_run++;
      run_left = runs[run].events;
    }
    if (run_left != 0) {
      begin_stretch(side < sides.size() ? std::min(run_left, sides[side].ordinal - ordinal) : run_left);
      return Item::kEvent;
    }
    if (next_group >= reader->groups.size()) return Item::kEnd;
    if (Result<void> loaded = load_group(); !loaded) {
      error = loaded.error();
      runs.clear();
      sides.clear();
    }
  }
}

void Cursor::State::begin_stretch(std::uint64_t events) {
  stretch_left = events;
  run_left -= events;
  ordinal += events;
  stream = streams[runs[run].stream].get();
  exit = stream->columns.exits.data() + stream->next_event;
  slot = stream->columns.slots.data() + stream->next_slot;
  event.thread = stream->thread;
  event.slice = runs[run].slice;
  event.position = stream->columns.first_position + stream->next_event - 1;
}

void Cursor::State::end_stretch() {
  if (stream == nullptr) return;
  stream->next_event = static_cast<std::size_t>(exit - stream->columns.exits.data());
  stream->next_slot = static_cast<std::size_t>(slot - stream->columns.slots.data());
  stream = nullptr;
}

/// Decodes the next group and works out its order.
Result<void> Cursor::State::load_group() {
  const std::size_t index = next_group++;
  const Group& group = reader->groups[index];
  stream_count = 0;
  runs.clear();
  sides.clear();
  run = next_run = side = 0;
  ordinal = run_left = 0;
  shapes = reader->shapes.exits().data();
  for (const ChunkRef& chunk : group.events) {
    if (options.thread && *options.thread != chunk.header.thread) continue;
    if (Result<void> loaded = load_events(group, chunk); !loaded) return loaded;
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.slice < b.slice; });
  const auto shared =
      std::adjacent_find(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.slice == b.slice; });
  if (shared != runs.end())
    return damaged(group.events.front(), fmt::format("slice {} has events of two threads", shared->slice));
  return group.sides ? load_sides(group, *group.sides, index) : Result<void>();
}

Result<void> Cursor::State::load_events(const Group& group, const ChunkRef& chunk) {
  const Result<std::span<const std::uint8_t>> payload = payloads.load(reader->fd, chunk);
  if (!payload) return damaged(chunk, payload.error().message);
  if (stream_count == streams.size()) streams.push_back(std::make_unique<Stream>());
  Stream& to = *streams[stream_count];
  to.thread = chunk.header.thread;
  to.next_event = to.next_slot = 0;
  const Result<void> decoded = decoder.decode(*payload, chunk.header.items, reader->shapes, group.exits, to.columns);
  if (!decoded) return damaged(chunk, decoded.error().message);
  if (to.columns.first_position != chunk.first_position)
    return damaged(chunk,
                   fmt::format("events from {} on where {} is due", to.columns.first_position, chunk.first_position));
  if (to.columns.runs.front().slice != chunk.header.first_slice)
    return damaged(chunk, "the first slice is another than the header says");
  for (const SliceRun& part : to.columns.runs) runs.push_back({part.slice, part.events, stream_count});
  ++stream_count;
  return {};
}

Result<void> Cursor::State::load_sides(const Group& group, const ChunkRef& chunk, std::size_t index) {
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

/// Walks runs and side events together: does each side event stand where its slice and its position say?
Result<void> Cursor::State::check_order(std::size_t index) const {
  const auto misplaced = [](const SideEvent& event) {
    return fail(ErrorKind::kBadInput, fmt::format("a side event of thread {} at position {} in slice {} is misplaced",
                                                  event.thread, event.position, event.slice));
  };
  std::unordered_map<ThreadId, std::uint64_t> passed;  // events of the thread, from the start of the trace
  for (std::size_t i = 0; i < stream_count; ++i) passed[streams[i]->thread] = streams[i]->columns.first_position;
  std::size_t at = 0;        // runs[at] is the first run that is not wholly before the side event
  std::uint64_t before = 0;  // events in the runs before runs[at]
  std::uint64_t last = 0;
  for (const PlacedSide& placed : sides) {
    if (placed.ordinal < last) return misplaced(placed.side);
    last = placed.ordinal;
    for (; at < runs.size() && before + runs[at].events <= placed.ordinal; ++at) {
      before += runs[at].events;
      passed[streams[runs[at].stream]->thread] += runs[at].events;
    }
    const std::uint64_t within = placed.ordinal - before;
    if (at == runs.size() && within != 0) return misplaced(placed.side);
    if (at > 0 && placed.side.slice < runs[at - 1].slice) return misplaced(placed.side);
    if (at < runs.size() && placed.side.slice > runs[at].slice) return misplaced(placed.side);
    if (within != 0 && placed.side.slice != runs[at].slice) return misplaced(placed.side);
    const auto known = passed.find(placed.side.thread);
    std::uint64_t position = known != passed.end() ? known->second : reader->events_before(placed.side.thread, index);
    if (within != 0 && streams[runs[at].stream]->thread == placed.side.thread) position += within;
    if (position != placed.side.position) return misplaced(placed.side);
  }
  return {};
}

Cursor Reader::cursor(CursorOptions options) const {
  auto state = std::make_unique<Cursor::State>();
  state->reader = state_.get();
  state->options = options;
  state->next_group = options.first_group;
  return Cursor(std::move(state));
}

Cursor::Cursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

Result<Cursor::Item> Cursor::next() {
  State& s = *state_;
  if (s.stretch_left == 0) [[unlikely]] {
    const Result<Item> item = s.between_stretches();
    if (!item || *item != Item::kEvent) return item;
  }
  --s.stretch_left;
  const ExitId exit = *s.exit++;
  const std::uint32_t slots = s.shapes[exit].slots;
  s.event.exit = exit;
  s.event.slots = {s.slot, slots};
  s.slot += slots;
  ++s.event.position;
  return Item::kEvent;
}

const Event& Cursor::event() const { return state_->event; }
const SideEvent& Cursor::side() const { return state_->side_event; }

}  // namespace loopfold::trace
