// Appends a trace to a file, group by group.
//
// event() is on the path of every block that the program executes. If it is the event that the current run leads to
// expect, comparing it is all that happens; else it is checked and goes to the RunEncoder, which turns events into runs
// and hands these to the thread's ChunkEncoder. Only one thread acts at a time and no run goes beyond a slice, so one
// RunEncoder serves all threads. Descriptions and side events are encoded when they come: they are few. A flush
// compresses each chunk with zstd at its fastest level and writes it.
//
// The file grows by whole groups. If a write fails (disk full, file size limit), the file is cut back to the last whole
// group, the error is kept, and every later call does nothing: the recording can go on to its end and report it.
//
// Order is the caller's order of calls. Events are split by thread, and can be put together again because a slice
// belongs to one thread; a side event carries the number of events before it in the group.
#include "trace/writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "trace/codec.h"
#include "trace/format.h"
#include "trace/info_codec.h"
#include "trace/run_codec.h"
#include "trace/run_encoder.h"

namespace loopfold::trace {
namespace {

constexpr int kZstdLevel = 1;
constexpr std::uint32_t kNoBuffer = 0xffffffff;

/// The runs of one thread in the current group.
struct ThreadBuffer {
  explicit ThreadBuffer(const Shapes& shapes) : encoder(shapes) {}
  ThreadId thread = 0;
  std::uint64_t first_position = 0;
  std::uint64_t events = 0;  // in slices that are over
  std::vector<SliceEvents> slices;
  ChunkEncoder encoder;
};

struct ThreadState {
  std::uint64_t events = 0;  // before the current group
  std::uint32_t buffer = kNoBuffer;
};

}  // namespace

struct Writer::State {
  std::string path;
  int fd = -1;
  std::optional<Error> error;
  bool stopped = false;            // by an error or by finish(): calls do nothing
  std::uint64_t file_size = 0;     // all that was written
  std::uint64_t whole_groups = 0;  // up to here the file is sound
  std::uint32_t next_chunk = 0;
  std::uint64_t next_group = 0;
  std::size_t group_bytes = kGroupBytes;
  bool small_groups = false;  // what is pending in the encoder counts too
  ZSTD_CCtx* zstd = ZSTD_createCCtx();

  // Descriptions so far, and those that are not written yet.
  Shapes shapes;
  std::size_t stacks = 0;
  ByteWriter descriptions;
  std::uint64_t description_items = 0;

  // The current group.
  std::vector<ThreadState> threads;
  std::vector<std::unique_ptr<ThreadBuffer>> buffers;  // the first `used_buffers` are in use
  std::size_t used_buffers = 0;
  std::size_t buffered_bytes = 0;  // of runs, except the current thread's, and side events
  std::uint64_t group_events = 0;  // without those of the current slice
  ByteWriter sides;
  SideContext side_context;
  std::uint64_t side_items = 0;
  std::uint64_t first_side_slice = 0;

  // Where runs go: the thread that owns the current slice.
  ThreadBuffer* current = nullptr;
  std::uint64_t slice_events = 0;  // in the current slice; the last entry of current->slices gets them at its end
  ThreadId event_thread = kNoThread;
  std::uint64_t event_slice = 0;
  std::uint64_t last_slice = 0;  // of any event or side event
  std::uint64_t total_events = 0;
  std::uint64_t total_sides = 0;

  RunEncoder encoder{shapes};
  ByteWriter payload;
  ByteWriter values;
  std::vector<std::uint8_t> chunk;

  ~State() {
    ZSTD_freeCCtx(zstd);
    if (fd >= 0) ::close(fd);
  }

  void bug(const std::string& what);
  void stop(ErrorKind kind, std::string message);
  bool accept(const Result<void>& checked);
  void flush_if_full();
  bool full() const;
  bool begin_slice(ThreadId thread, std::uint64_t slice);
  void end_slice();
  /// Was the exit described, and are these its slots?
  bool known_event(ExitId exit, std::span<const std::uint64_t> slots) {
    const std::span<const ExitShape> known = shapes.exits();
    if (exit < known.size() && known[exit].slots == slots.size()) [[likely]]
      return true;
    bug(fmt::format("event with exit {} and {} slots", exit, slots.size()));
    return false;
  }
  ThreadState& thread_state(ThreadId thread);
  std::uint64_t events_of(ThreadId thread) const;
  bool write_all(std::span<const std::uint8_t> bytes);
  bool write_chunk(ChunkHeader header, std::span<const std::uint8_t> raw);
  bool write_single(ChunkType type, const std::string& json);
  bool write_runs(const ThreadBuffer& buffer, std::uint16_t flags);
  void flush();
  void clear_group();
};

/// A call that breaks the rules: what came before it is sound and is written, nothing after it is.
void Writer::State::bug(const std::string& what) {
  flush();
  stop(ErrorKind::kInternal, fmt::format("{}: {}", path, what));
}

/// The first error stays. What is buffered is dropped and the file ends with its last whole group.
void Writer::State::stop(ErrorKind kind, std::string message) {
  if (error) return;
  stopped = true;
  error = Error{kind, std::move(message)};
  // Devices cannot be cut; then there is nothing to keep clean either.
  if (fd >= 0 && ::ftruncate(fd, static_cast<off_t>(whole_groups)) == 0) file_size = whole_groups;
  clear_group();
}

bool Writer::State::accept(const Result<void>& checked) {
  if (!checked) bug(checked.error().message);
  return checked.has_value();
}

bool Writer::State::full() const {
  std::size_t bytes = buffered_bytes + descriptions.size() + sides.size();
  if (current != nullptr) bytes += current->encoder.bytes();
  if (small_groups) bytes += encoder.pending_bytes();
  return bytes >= group_bytes || group_events + slice_events >= kGroupEvents ||
         (current != nullptr && current->encoder.full());
}

void Writer::State::flush_if_full() {
  if (full()) flush();
}

ThreadState& Writer::State::thread_state(ThreadId thread) {
  if (thread >= threads.size()) threads.resize(std::size_t{thread} + 1);
  return threads[thread];
}

std::uint64_t Writer::State::events_of(ThreadId thread) const {
  if (thread >= threads.size()) return 0;
  const ThreadState& state = threads[thread];
  if (state.buffer == kNoBuffer) return state.events;
  const ThreadBuffer& buffer = *buffers[state.buffer];
  return state.events + buffer.events + (&buffer == current ? slice_events : 0);
}

/// Makes `current` the buffer of `thread`, with an entry for `slice` at the end of its slices.
bool Writer::State::begin_slice(ThreadId thread, std::uint64_t slice) {
  const bool second_owner = slice == event_slice && thread != event_thread && event_thread != kNoThread;
  if (slice < last_slice || second_owner || thread >= kMaxThreads) {
    bug(fmt::format("event of thread {} in slice {} after thread {} in slice {}", thread, slice, event_thread,
                    std::max(event_slice, last_slice)));
    return false;
  }
  end_slice();
  ThreadState& state = thread_state(thread);
  if (state.buffer == kNoBuffer) {
    if (used_buffers == buffers.size()) buffers.push_back(std::make_unique<ThreadBuffer>(shapes));
    state.buffer = static_cast<std::uint32_t>(used_buffers++);
    buffers[state.buffer]->thread = thread;
    buffers[state.buffer]->first_position = state.events;
  }
  current = buffers[state.buffer].get();
  buffered_bytes -= std::min(buffered_bytes, current->encoder.bytes());
  current->slices.push_back({slice, 0});
  buffered_bytes += sizeof(SliceEvents);
  encoder.set_sink(current->encoder);
  event_thread = thread;
  event_slice = last_slice = slice;
  return true;
}

/// Ends the runs of the current slice.
void Writer::State::end_slice() {
  if (current == nullptr) return;
  encoder.finish();
  current->slices.back().events = slice_events;
  current->events += slice_events;
  group_events += slice_events;
  total_events += slice_events;
  slice_events = 0;
  buffered_bytes += current->encoder.bytes();
  current = nullptr;
}

bool Writer::State::write_all(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int reason = written < 0 ? errno : ENOSPC;
      stop(ErrorKind::kEnvironment,
           fmt::format("{}: write failed: {}; what was written before is kept", path, std::strerror(reason)));
      return false;
    }
    file_size += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// Compresses `raw` if that makes it smaller, completes the header and writes both at once.
bool Writer::State::write_chunk(ChunkHeader header, std::span<const std::uint8_t> raw) {
  if (raw.size() > kMaxRawBytes) {
    stop(ErrorKind::kInternal, fmt::format("{}: a chunk of {} bytes is too large", path, raw.size()));
    return false;
  }
  const std::size_t bound = ZSTD_compressBound(raw.size());
  if (chunk.size() < kChunkHeaderBytes + bound) chunk.resize(kChunkHeaderBytes + bound);
  std::uint8_t* const stored = chunk.data() + kChunkHeaderBytes;
  std::size_t size = ZSTD_compressCCtx(zstd, stored, bound, raw.data(), raw.size(), kZstdLevel);
  if (ZSTD_isError(size) == 0 && size < raw.size()) {
    header.flags |= kZstd;
  } else {
    size = raw.size();
    std::copy(raw.begin(), raw.end(), stored);
  }
  header.raw_size = static_cast<std::uint32_t>(raw.size());
  header.stored_size = static_cast<std::uint32_t>(size);
  header.payload_checksum = checksum({stored, size});
  header.ordinal = next_chunk++;
  header.group = next_group;
  const auto header_bytes = encode_chunk_header(header);
  std::copy(header_bytes.begin(), header_bytes.end(), chunk.begin());
  if (!write_all(std::span(chunk).first(kChunkHeaderBytes + size))) return false;
  if ((header.flags & kEndsGroup) != 0) {
    ++next_group;
    whole_groups = file_size;
  }
  return true;
}

/// A chunk of JSON that is a group of its own.
bool Writer::State::write_single(ChunkType type, const std::string& json) {
  const std::vector<std::uint8_t> bytes(json.begin(), json.end());
  ChunkHeader header;
  header.type = static_cast<std::uint16_t>(type);
  header.flags = kEndsGroup;
  header.first_slice = last_slice;
  header.items = 1;
  return write_chunk(header, bytes);
}

/// Writes the thread's runs and, if they have such, their values; `flags` are the last chunk's.
bool Writer::State::write_runs(const ThreadBuffer& buffer, std::uint16_t flags) {
  payload.clear();
  values.clear();
  buffer.encoder.finish(buffer.first_position, buffer.slices, payload, values);
  ChunkHeader header;
  header.type = static_cast<std::uint16_t>(ChunkType::kRuns);
  header.flags = values.empty() ? flags : std::uint16_t{0};
  header.thread = buffer.thread;
  header.first_slice = buffer.slices.front().slice;
  header.items = buffer.events;
  if (!write_chunk(header, payload.bytes())) return false;
  if (values.empty()) return true;
  header.type = static_cast<std::uint16_t>(ChunkType::kValues);
  header.flags = flags;
  header.items = buffer.encoder.data_codes();
  return write_chunk(header, values.bytes());
}

/// Writes the group: descriptions, side events, then each thread's runs; the last chunk of these ends it.
void Writer::State::flush() {
  if (stopped) return;
  end_slice();
  encoder.reset();
  std::size_t left = used_buffers + (descriptions.empty() ? 0 : 1) + (side_items == 0 ? 0 : 1);
  if (left == 0) return;
  const auto flags = [&left] { return static_cast<std::uint16_t>(--left == 0 ? kEndsGroup : 0); };
  bool sound = true;
  if (!descriptions.empty()) {
    ChunkHeader header;
    header.type = static_cast<std::uint16_t>(ChunkType::kDescriptions);
    header.flags = flags();
    header.first_slice = last_slice;
    for (std::size_t i = 0; i < used_buffers; ++i)
      header.first_slice = std::min(header.first_slice, buffers[i]->slices.front().slice);
    if (side_items != 0) header.first_slice = std::min(header.first_slice, first_side_slice);
    header.items = description_items;
    sound = write_chunk(header, descriptions.bytes());
  }
  if (sound && side_items != 0) {
    ChunkHeader header;
    header.type = static_cast<std::uint16_t>(ChunkType::kSideEvents);
    header.flags = flags();
    header.first_slice = first_side_slice;
    header.items = side_items;
    sound = write_chunk(header, sides.bytes());
  }
  for (std::size_t i = 0; sound && i < used_buffers; ++i) sound = write_runs(*buffers[i], flags());
  if (sound) clear_group();
}

void Writer::State::clear_group() {
  for (std::size_t i = 0; i < used_buffers; ++i) {
    ThreadBuffer& buffer = *buffers[i];
    threads[buffer.thread].events += buffer.events;
    threads[buffer.thread].buffer = kNoBuffer;
    buffer.events = 0;
    buffer.slices.clear();
    buffer.encoder.clear();
  }
  used_buffers = 0;
  buffered_bytes = 0;
  group_events = slice_events = 0;
  current = nullptr;
  descriptions.clear();
  description_items = 0;
  sides.clear();
  side_items = 0;
  side_context = {};
}

Result<std::unique_ptr<Writer>> Writer::create(const std::string& path, const RunInfo& info) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (state->fd < 0)
    return fail(ErrorKind::kEnvironment, fmt::format("{}: cannot create: {}", path, std::strerror(errno)));
  if (!state->write_all(encode_file_header()) || !state->write_single(ChunkType::kRunInfo, encode_run_info(info)))
    return tl::unexpected<Error>(*state->error);
  return std::unique_ptr<Writer>(new Writer(std::move(state)));
}

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Writer::~Writer() { flush(); }

void Writer::add_module(const Module& module) {
  if (state_->stopped) return;
  encode_module(module, state_->descriptions);
  ++state_->description_items;
  state_->flush_if_full();
}

void Writer::add_block(const Block& block) {
  if (state_->stopped || !state_->accept(state_->shapes.add_block(block))) return;
  encode_block(block, state_->descriptions);
  ++state_->description_items;
  state_->flush_if_full();
}

void Writer::add_exit(const Exit& exit) {
  if (state_->stopped || !state_->accept(state_->shapes.add_exit(exit))) return;
  encode_exit(exit, state_->descriptions);
  ++state_->description_items;
  state_->flush_if_full();
}

void Writer::add_stack(const CallStack& stack) {
  if (state_->stopped) return;
  encode_stack(CallStack(stack.begin(), stack.begin() + std::min(stack.size(), kMaxStackDepth)), state_->descriptions);
  ++state_->description_items;
  ++state_->stacks;
  state_->flush_if_full();
}

void Writer::event(ThreadId thread, std::uint64_t slice, ExitId exit, std::span<const std::uint64_t> slots) {
  State& s = *state_;
  if (slice != s.event_slice || thread != s.event_thread || s.current == nullptr) [[unlikely]] {
    if (s.stopped || !s.known_event(exit, slots) || !s.begin_slice(thread, slice)) return;
  }
  if (s.encoder.expected(exit, slots.data(), slots.size())) {
    if (++s.slice_events + s.group_events >= kGroupEvents) [[unlikely]] {
      s.flush();
    } else if (s.small_groups && s.encoder.grows()) {
      s.flush_if_full();
    }
    return;
  }
  if (!s.known_event(exit, slots)) return;
  ++s.slice_events;
  const bool handed_out = s.encoder.append(exit, slots.data(), slots.size());
  if (handed_out || s.small_groups) s.flush_if_full();
}

/// Hands them to the encoder at once, except those that may fill the group.
void Writer::events(ThreadId thread, std::uint64_t slice, EventWords& in) {
  State& s = *state_;
  while (const WordExit* const next = in.front()) {
    const std::uint64_t so_far = s.slice_events + s.group_events + 1;
    const bool goes_on = slice == s.event_slice && thread == s.event_thread && s.current != nullptr;
    const std::uint64_t before = in.events();
    if (goes_on && !s.small_groups && so_far < kGroupEvents) [[likely]] {
      const bool handed_out = s.encoder.take(in, kGroupEvents - so_far);
      s.slice_events += in.events() - before;
      if (handed_out) s.flush_if_full();
      if (in.events() != before) continue;
    }
    event(thread, slice, next->exit, {in.slots(), next->slots});
    in.pass(*next);
  }
}

void Writer::side(SideEvent side_event) {
  State& s = *state_;
  if (s.stopped || !s.accept(check_side(side_event, s.stacks))) return;
  if (side_event.slice < s.last_slice)
    return s.bug(fmt::format("side event in slice {} after slice {}", side_event.slice, s.last_slice));
  if (side_event.slice != s.event_slice) s.end_slice();
  s.last_slice = side_event.slice;
  static_cast<void>(s.thread_state(side_event.thread));
  side_event.position = s.events_of(side_event.thread);
  if (s.side_items == 0) s.first_side_slice = side_event.slice;
  encode_side({s.group_events + s.slice_events, std::move(side_event)}, s.side_context, s.sides);
  s.buffered_bytes += kSideBytes;
  ++s.side_items;
  ++s.total_sides;
  s.flush_if_full();
}

void Writer::flush() { state_->flush(); }

void Writer::finish(EndInfo end) {
  State& s = *state_;
  if (s.fd < 0) return;
  s.flush();
  end.events = s.total_events;
  end.side_events = s.total_sides;
  end.threads = s.threads.size();
  if (!s.error) s.write_single(ChunkType::kEnd, encode_end_info(end));
  const int closed = ::close(s.fd);
  s.fd = -1;
  s.stopped = true;
  if (closed != 0) s.stop(ErrorKind::kEnvironment, fmt::format("{}: cannot close: {}", s.path, std::strerror(errno)));
}

void Writer::set_group_bytes(std::size_t bytes) {
  state_->group_bytes = std::clamp<std::size_t>(bytes, 1, kMaxGroupBytes);
  state_->small_groups = state_->group_bytes < kGroupBytes / 16;
}

std::uint64_t Writer::events_of(ThreadId thread) const { return state_->events_of(thread); }

std::uint64_t Writer::bytes_written() const { return state_->whole_groups; }

const std::optional<Error>& Writer::error() const { return state_->error; }

}  // namespace loopfold::trace
