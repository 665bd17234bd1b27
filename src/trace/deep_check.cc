// Expands, encodes again and compares; see deep_check.h.
//
// Three passes over the trace go on at the same time. The first expands the stored runs and gives their events to a
// RunEncoder, which ends its runs where the writer's did: at the end of a slice and of a group. Its sink takes the runs
// and compares each with the next stored one, which the second pass delivers; so nothing has to be kept. The sink also
// gives them to a ChunkEncoder per thread; at the end of the group these are decoded, and a digest of their events is
// compared with that of the events of the first pass.
#include "trace/deep_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "trace/run_codec.h"
#include "trace/run_decoder.h"
#include "trace/run_encoder.h"

namespace loopfold::trace {
namespace {

/// Of a sequence of events.
class Digest {
 public:
  void add(const RunPath& path, std::span<const std::uint64_t> slots) {
    for (const ExitId exit : path.exits) mix(exit);
    for (const std::uint64_t slot : slots) mix(slot);
    events_ += path.exits.size();
  }
  friend bool operator==(const Digest&, const Digest&) = default;

 private:
  void mix(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15;
    state_ ^= state_ >> 32;
  }
  std::uint64_t state_ = 1;
  std::uint64_t events_ = 0;
};

bool equal(std::span<const RunPath> a, std::span<const RunPath> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const RunPath& x, const RunPath& y) {
    return std::ranges::equal(x.exits, y.exits) && std::ranges::equal(x.columns, y.columns) && x.slots == y.slots &&
           x.instructions == y.instructions;
  });
}

/// Stored columns, and those of a run that was found again; the values of the latter are in its rows.
bool equal(std::span<const RunColumn> stored, const Run& run, std::span<const std::uint64_t> rows) {
  if (stored.size() != run.columns.size()) return false;
  const std::vector<std::vector<std::uint64_t>> values = column_values(run, rows);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const RunColumn& x = stored[i];
    const RunColumn& y = run.columns[i];
    if (x.kind != y.kind || x.control != y.control || x.block != y.block || x.slot != y.slot || x.start != y.start ||
        x.stride != y.stride)
      return false;
    if (x.kind == RunColumn::Kind::kIrregular && x.values.size() != values[i].size()) return false;
    if (!std::equal(x.values.begin(), x.values.end(), values[i].begin())) return false;
  }
  return true;
}

class DeepChecker : public RunSink {
 public:
  explicit DeepChecker(const Reader& reader) : reader_(reader), stored_(reader.runs()), encoder_(shapes_) {
    encoder_.set_sink(*this);
  }

  DeepReport run();
  void literal(std::span<const ExitId> exits, std::span<const std::uint64_t> slots) override;
  void loop(const Run& run, std::span<const std::uint64_t> rows) override;

 private:
  /// A thread's part of the current group.
  struct Thread {
    explicit Thread(const Shapes& shapes) : encoder(shapes) {}
    ChunkEncoder encoder;
    Digest digest;
    std::uint64_t first_position = 0;
    std::vector<SliceEvents> slices;
  };

  Result<void> describe();
  void walk();
  void feed(const Run& run);
  const Run* next_stored();
  void end_slice();
  void end_group();
  std::string compare_again(ThreadId id, const Thread& thread);
  void problem(std::string text) {
    if (report_.problem.empty()) report_.problem = std::move(text);
  }

  const Reader& reader_;
  DeepReport report_;
  Shapes shapes_;
  RunCursor stored_;
  RunEncoder encoder_;
  RunExpander expander_;
  std::map<ThreadId, std::unique_ptr<Thread>> threads_;
  Thread* thread_ = nullptr;
  ThreadId current_ = 0;
  RunBody scratch_;
};

DeepReport DeepChecker::run() {
  if (const Result<void> described = describe(); !described) {
    problem(described.error().message);
  } else {
    walk();
  }
  return std::move(report_);
}

Result<void> DeepChecker::describe() {
  for (const Block& block : reader_.blocks()) {
    if (Result<void> added = shapes_.add_block(block); !added) return added;
  }
  for (const Exit& exit : reader_.exits()) {
    if (Result<void> added = shapes_.add_exit(exit); !added) return added;
  }
  return {};
}

void DeepChecker::walk() {
  RunCursor source = reader_.runs();
  std::size_t group = 0;
  while (report_.sound()) {
    const Result<RunCursor::Item> item = source.next();
    if (!item) return problem(item.error().message);
    if (*item == RunCursor::Item::kSide) continue;
    if (*item == RunCursor::Item::kEnd || source.group() != group) end_group();
    if (*item == RunCursor::Item::kEnd) break;
    group = source.group();
    feed(source.run());
  }
  if (report_.sound() && next_stored() != nullptr) problem("there are more stored runs than the events make");
}

void DeepChecker::feed(const Run& run) {
  if (thread_ == nullptr || run.thread != current_ || run.slice != thread_->slices.back().slice) {
    end_slice();
    current_ = run.thread;
    std::unique_ptr<Thread>& thread = threads_[current_];
    if (thread == nullptr) {
      thread = std::make_unique<Thread>(shapes_);
      thread->first_position = run.position;
    }
    thread_ = thread.get();
    thread_->slices.push_back({run.slice, 0});
  }
  thread_->slices.back().events += run.events;
  report_.events += run.events;
  report_.instructions += run.instructions;
  expander_.begin(run);
  for (std::uint64_t i = 0; i < run.iterations; ++i) {
    const RunPath& path = expander_.next();
    const std::uint64_t* slots = expander_.slots().data();
    thread_->digest.add(path, expander_.slots());
    for (const ExitId exit : path.exits) {
      const std::size_t count = shapes_.exits()[exit].slots;
      if (!encoder_.expected(exit, slots, count)) encoder_.append(exit, slots, count);
      slots += count;
    }
  }
}

/// The next run of the second pass, or nullptr.
const Run* DeepChecker::next_stored() {
  for (;;) {
    const Result<RunCursor::Item> item = stored_.next();
    if (!item || *item == RunCursor::Item::kEnd) return nullptr;
    if (*item == RunCursor::Item::kRun) return &stored_.run();
  }
}

void DeepChecker::literal(std::span<const ExitId> exits, std::span<const std::uint64_t> slots) {
  if (!report_.sound()) return;
  ++report_.literals;
  const Run* const stored = next_stored();
  if (stored == nullptr) return problem("the events make more runs than are stored");
  if (!stored->literal() || !std::ranges::equal(stored->paths[0].exits, exits) ||
      !std::ranges::equal(stored->slots, slots))
    return problem(fmt::format(
        "thread {}, event {}: the events make a literal of {} events, stored is a run of {} iterations and {} events",
        stored->thread, stored->position, exits.size(), stored->iterations, stored->events));
  thread_->encoder.literal(exits, slots);
}

void DeepChecker::loop(const Run& run, std::span<const std::uint64_t> rows) {
  if (!report_.sound()) return;
  ++report_.loops;
  report_.iterations += run.iterations;
  const Run* const stored = next_stored();
  if (stored == nullptr) return problem("the events make more runs than are stored");
  if (stored->iterations != run.iterations || stored->events != run.events ||
      stored->instructions != run.instructions || !equal(stored->paths, run.paths) ||
      !std::ranges::equal(stored->sequence, run.sequence) || !equal(stored->columns, run, rows))
    return problem(fmt::format(
        "thread {}, event {}: the events make a run of {} iterations and {} events, stored is another of {} and {}",
        stored->thread, stored->position, run.iterations, run.events, stored->iterations, stored->events));
  thread_->encoder.loop(run, rows);
}

void DeepChecker::end_slice() {
  if (thread_ != nullptr) encoder_.finish();
  thread_ = nullptr;
}

/// Decodes what was encoded again and forgets the group.
void DeepChecker::end_group() {
  end_slice();
  encoder_.reset();
  for (const auto& [id, thread] : threads_) {
    const std::string difference = report_.sound() ? compare_again(id, *thread) : "";
    if (!difference.empty())
      problem(fmt::format("thread {}, from event {} on: encoded again: {}", id, thread->first_position, difference));
  }
  threads_.clear();
}

std::string DeepChecker::compare_again(ThreadId id, const Thread& thread) {
  ByteWriter control;
  ByteWriter data;
  thread.encoder.finish(thread.first_position, thread.slices, control, data);
  std::uint64_t events = 0;
  for (const SliceEvents& slice : thread.slices) events += slice.events;
  ChunkDecoder decoder(shapes_, scratch_);
  const Result<void> begun = decoder.begin({control.bytes(), data.bytes(), id, events, shapes_.exits().size(), false});
  if (!begun) return begun.error().message;
  Digest digest;
  Run run;
  while (decoder.next(run)) {
    expander_.begin(run);
    for (std::uint64_t i = 0; i < run.iterations; ++i) {
      const RunPath& path = expander_.next();
      digest.add(path, expander_.slots());
    }
  }
  if (decoder.problem() != nullptr) return decoder.problem();
  return digest == thread.digest ? "" : "other events";
}

}  // namespace

DeepReport deep_check(const Reader& reader) { return DeepChecker(reader).run(); }

}  // namespace loopfold::trace
