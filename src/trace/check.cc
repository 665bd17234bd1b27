// The invariants of a trace, tested in one pass over its events.
//
//   format      every chunk decodes; positions of a thread count up by one; slices never decrease and a slice has
//               events of one thread only; a side event stands where its position says; accesses have a size
//   threads     a thread starts once, before its first event, and has no events after its end
//   recording   no event while recording is off
//   control     if an exit says where control goes, the thread's next event is there. A return goes back behind its
//               call. What runs unseen or redirects control in between (allocator, resolver, handler, recording off)
//               suspends the rule for one step, and so do exits that the kernel or Valgrind answers
//   memory      what was accessed lies where a program can have memory
//   heap        live blocks do not overlap
//   end record  its counts are the counts
//
// Calls and returns are matched by stack pointer: frames are (stack pointer after the call, return address), stack
// pointers strictly decreasing from the bottom up, and whatever shows a higher stack pointer pops what lies below it.
// So tail calls, longjmp and exceptions need no special case. A return is judged only if its stack pointer is exactly
// the frame's, and only if nothing was stored over the return address: unwinders, retpolines and context switches do
// that on purpose. Switching between stacks may lose frames, which loses tests, never soundness of an answer.
//
// An allocator call shows up when it has returned. With threads, the block that one thread frees can be another's
// before the first one's `free` is back. Overlaps are therefore held back until the old block's owner moves on.
//
// No rule here can be broken by a program, however odd, so that a problem always means a broken recorder, writer,
// reader or file. Cost: a table lookup per event, a few ns per store, a map operation per allocation.
#include "trace/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include "trace/event_hash.h"

namespace loopfold::trace {
namespace {

constexpr std::uint64_t kNoAddress = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kUserSpaceEnd = std::uint64_t{1} << 47;
constexpr std::uint64_t kVsyscallPage = 0xffffffffff600000;  // Valgrind answers calls into it with code of its own
constexpr std::size_t kMostFrames = std::size_t{1} << 20;
constexpr std::size_t kMostHeldBack = 64;

/// What the walk needs to know about an exit, flat.
struct ExitPlan {
  const Block* block = nullptr;
  ExitKind kind = ExitKind::kNext;
  std::uint16_t instructions = 0;
  std::uint64_t address = 0;          // of its block
  std::uint64_t behind = 0;           // the address after the last instruction that ran
  std::uint64_t target = kNoAddress;  // where the next event must be, or kNoAddress
  Value stack_pointer;
  std::size_t first_access = 0;  // in Checker::accesses_
  std::size_t end_access = 0;
};

struct PlannedAccess {
  std::uint32_t size = 0;
  bool store = false;
  bool guarded = false;
  Value address;
};

struct Frame {
  std::uint64_t stack_pointer = 0;  // the return address is stored here
  std::uint64_t return_address = 0;
  bool overwritten = false;
};

struct ThreadState {
  bool started = false;
  bool ended = false;
  std::uint64_t events = 0;
  std::uint64_t last_event = 0;         // Checker::time_ of its last event
  std::uint64_t expected = kNoAddress;  // where its next event must be
  bool returns = false;                 // `expected` is a return address
  std::vector<Frame> frames;
};

struct LiveBlock {
  std::uint64_t end = 0;
  ThreadId thread = 0;
  std::uint64_t position = 0;
};

class Checker {
 public:
  Checker(const Reader& reader, std::size_t most_problems) : reader_(reader), most_problems_(most_problems) {}

  CheckReport run() {
    report_.partial = !reader_.end().has_value();
    check_descriptions();
    walk();
    for (const HeldBack& overlap : held_back_) add(overlap.time, overlap.problem);
    check_end();
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.time < b.time; });
    if (found_.size() > most_problems_) found_.resize(most_problems_);
    for (Found& found : found_) report_.problems.push_back(std::move(found.problem));
    return std::move(report_);
  }

 private:
  struct Found {
    std::uint64_t time = 0;
    Problem problem;
  };
  /// An overlap that is none if the thread that frees `old_address` next has been inside `free` all the time.
  struct HeldBack {
    std::uint64_t time = 0;
    std::uint64_t old_address = 0;
    Problem problem;
  };

  void add(std::uint64_t time, Problem problem) {
    ++report_.problem_count;
    // Problems come in the order of time, except for overlaps: some more than asked for are kept for these.
    if (found_.size() < most_problems_ + kMostHeldBack) found_.push_back({time, std::move(problem)});
  }
  void add_for_file(std::string text) { add(time_, {std::nullopt, 0, std::move(text)}); }

  void check_descriptions();
  void check_end();
  void walk();
  void event(const Event& event);
  void side(const SideEvent& side);
  void order(ThreadId thread, std::uint64_t slice, std::uint64_t position, bool is_event);
  void continuity(const Event& event, const ExitPlan& exit, ThreadState& thread);
  void accesses(const Event& event, const ExitPlan& exit, ThreadState& thread);
  void frames(const Event& event, const ExitPlan& exit, ThreadState& thread);
  void allocation(const SideEvent& side, const Allocation& allocation, ThreadState& thread);
  void allocate(const SideEvent& side, std::uint64_t address, std::uint64_t size);
  void release(std::uint64_t address, const ThreadState& thread);
  static void overwrite(ThreadState& thread, std::uint64_t address, std::uint64_t size);
  static void forget_control(ThreadState& thread) { thread.expected = kNoAddress; }

  ThreadState& thread_state(ThreadId thread) {
    if (thread >= threads_.size()) threads_.resize(std::size_t{thread} + 1);
    return threads_[thread];
  }

  const Reader& reader_;
  std::size_t most_problems_;
  CheckReport report_;
  EventHash hash_;
  bool hashing_ = reader_.end() && reader_.end()->checksum != 0;
  std::vector<Found> found_;
  std::vector<ExitPlan> exits_;
  std::vector<PlannedAccess> accesses_;
  std::vector<ThreadState> threads_;
  std::uint64_t time_ = 0;  // events and side events so far
  std::uint64_t last_slice_ = 0;
  std::optional<std::pair<std::uint64_t, ThreadId>> slice_owner_;
  bool recording_ = true;  // until a side event says otherwise
  std::map<std::uint64_t, LiveBlock> live_;
  std::vector<HeldBack> held_back_;
};

/// Does this kind of exit promise that the thread goes on at the exit's target?
bool keeps_control(ExitKind kind) {
  return kind == ExitKind::kNext || kind == ExitKind::kIndirectJump || kind == ExitKind::kCall ||
         kind == ExitKind::kIndirectCall || kind == ExitKind::kReturn;
}

/// The reader has tested ids, prefixes and slot numbers; here is what it has no need to care about.
void Checker::check_descriptions() {
  const std::vector<Block>& blocks = reader_.blocks();
  for (const Block& block : blocks) {
    const auto empty = [](const Access& access) { return access.size == 0; };
    if (std::any_of(block.accesses.begin(), block.accesses.end(), empty))
      add_for_file(fmt::format("block {} at {:#x}: an access of 0 bytes", block.id, block.address));
    const auto earlier = [](const auto& a, const auto& b) { return a.instruction < b.instruction; };
    if (!std::is_sorted(block.accesses.begin(), block.accesses.end(), earlier) ||
        !std::is_sorted(block.results.begin(), block.results.end(), earlier))
      add_for_file(fmt::format("block {} at {:#x}: accesses or results out of order", block.id, block.address));
  }
  for (const Exit& exit : reader_.exits()) {
    const Block& block = blocks[exit.block];
    ExitPlan plan;
    plan.block = &block;
    plan.kind = exit.kind;
    plan.instructions = exit.instructions;
    plan.address = plan.behind = block.address;
    for (std::size_t i = 0; i < exit.instructions; ++i) plan.behind += block.lengths[i];
    if (exit.target && keeps_control(exit.kind) && *exit.target < kVsyscallPage) plan.target = *exit.target;
    plan.stack_pointer = exit.stack_pointer;
    plan.first_access = accesses_.size();
    for (std::size_t i = 0; i < exit.accesses; ++i) {
      const Access& access = block.accesses[i];
      if (access.instruction >= exit.instructions)
        add_for_file(fmt::format("exit {} of the block at {:#x}: an access of instruction {}, but only {} ran", exit.id,
                                 block.address, access.instruction, exit.instructions));
      accesses_.push_back({access.size, access.kind == Access::Kind::kStore, access.guarded, access.address});
    }
    plan.end_access = accesses_.size();
    exits_.push_back(plan);
  }
}

void Checker::walk() {
  Cursor cursor = reader_.cursor();
  for (;;) {
    const Result<Cursor::Item> item = cursor.next();
    if (!item) return add_for_file(item.error().message);
    if (*item == Cursor::Item::kEnd) break;
    ++time_;
    if (*item == Cursor::Item::kEvent) {
      event(cursor.event());
    } else {
      side(cursor.side());
    }
  }
  if (!reader_.damage().empty() && !reader_.damage().starts_with("cut off")) add_for_file(reader_.damage());
}

void Checker::order(ThreadId id, std::uint64_t slice, std::uint64_t position, bool is_event) {
  const ThreadState& thread = thread_state(id);
  const auto problem = [&](std::string text) { add(time_, {id, position, std::move(text)}); };
  if (position != thread.events) problem(fmt::format("is at position {} where {} is due", position, thread.events));
  if (slice < last_slice_) problem(fmt::format("is in slice {} after slice {}", slice, last_slice_));
  last_slice_ = std::max(last_slice_, slice);
  if (!is_event) return;
  if (slice_owner_ && slice_owner_->first == slice && slice_owner_->second != id)
    problem(fmt::format("slice {} belongs to thread {}", slice, slice_owner_->second));
  slice_owner_ = {slice, id};
  if (!thread.started) problem("the thread has an event before its start");
  if (thread.ended) problem("the thread has an event after its end");
  if (!recording_) problem("an event while recording is off");
}

void Checker::event(const Event& event) {
  const ExitPlan& exit = exits_[event.exit];
  if (hashing_) hash_.add(event.thread, event.exit, event.slots);
  order(event.thread, event.slice, event.position, true);
  ThreadState& thread = threads_[event.thread];
  continuity(event, exit, thread);
  accesses(event, exit, thread);
  thread.expected = exit.target;
  thread.returns = false;
  if (exit.stack_pointer.kind != Value::Kind::kNone) frames(event, exit, thread);
  thread.started = true;  // said once
  thread.events = event.position + 1;
  thread.last_event = time_;
  ++report_.events;
  report_.instructions += exit.instructions;
}

void Checker::continuity(const Event& event, const ExitPlan& exit, ThreadState& thread) {
  if (thread.expected == kNoAddress || thread.expected == exit.address) return;
  const char* const from = thread.returns ? "the call that the event before returns from goes on" : "control went on";
  add(time_, {event.thread, event.position,
              fmt::format("{} at {:#x}, but this block is at {:#x}", from, thread.expected, exit.address)});
}

void Checker::accesses(const Event& event, const ExitPlan& exit, ThreadState& thread) {
  for (std::size_t i = exit.first_access; i < exit.end_access; ++i) {
    const PlannedAccess& access = accesses_[i];
    const std::uint64_t address = evaluate(*exit.block, access.address, event.slots);
    if (access.guarded && address == 0) continue;
    if (address == 0 || address >= kUserSpaceEnd)
      add(time_, {event.thread, event.position,
                  fmt::format("a {} of {} bytes at {:#x}, where no program has memory", access.store ? "store" : "load",
                              access.size, address)});
    if (access.store) overwrite(thread, address, access.size);
  }
}

/// Marks the frames whose return address lies in the range. Most stores are below all frames: locals, heap, globals.
void Checker::overwrite(ThreadState& thread, std::uint64_t address, std::uint64_t size) {
  std::vector<Frame>& frames = thread.frames;
  if (frames.empty() || address + size <= frames.back().stack_pointer) return;
  const auto above = [address](const Frame& frame) { return frame.stack_pointer + 8 > address; };
  const auto end = std::partition_point(frames.begin(), frames.end(), above);
  for (auto frame = end; frame != frames.begin() && (frame - 1)->stack_pointer < address + size; --frame)
    (frame - 1)->overwritten = true;
}

/// Follows a call, return or indirect jump. For a return, finds out where it must lead.
void Checker::frames(const Event& event, const ExitPlan& exit, ThreadState& thread) {
  std::vector<Frame>& frames = thread.frames;
  const std::uint64_t sp = evaluate(*exit.block, exit.stack_pointer, event.slots);
  if (exit.kind == ExitKind::kCall || exit.kind == ExitKind::kIndirectCall) {
    while (!frames.empty() && frames.back().stack_pointer <= sp) frames.pop_back();
    if (frames.size() < kMostFrames) frames.push_back({sp, exit.behind, false});
    return;
  }
  Frame last;
  while (!frames.empty() && frames.back().stack_pointer < sp) {
    last = frames.back();
    frames.pop_back();
  }
  if (exit.kind != ExitKind::kReturn || last.stack_pointer + 8 != sp || last.overwritten) return;
  thread.expected = last.return_address;
  thread.returns = true;
}

void Checker::side(const SideEvent& side) {
  order(side.thread, side.slice, side.position, false);
  ThreadState& thread = threads_[side.thread];
  ++report_.side_events;
  // The kernel and the core may still tidy up behind a thread.
  const bool tidying = std::holds_alternative<KernelAccess>(side.data) || std::holds_alternative<Mapping>(side.data);
  if (thread.ended && !tidying) add(time_, {side.thread, side.position, "the thread does something after its end"});
  std::visit(
      [&](const auto& data) {
        using T = std::decay_t<decltype(data)>;
        const auto problem = [&](std::string text) { add(time_, {side.thread, side.position, std::move(text)}); };
        if constexpr (std::is_same_v<T, ThreadStart>) {
          if (thread.started) problem("the thread starts a second time, or after its first event");
          thread.started = true;
        } else if constexpr (std::is_same_v<T, ThreadEnd>) {
          thread.ended = true;
        } else if constexpr (std::is_same_v<T, Recording>) {
          recording_ = data.on;
          for (ThreadState& each : threads_) {
            forget_control(each);
            each.frames.clear();
          }
        } else if constexpr (std::is_same_v<T, Allocation>) {
          forget_control(thread);
          report_.hidden_instructions += data.hidden_instructions;
          allocation(side, data, thread);
        } else if constexpr (std::is_same_v<T, Hidden>) {
          forget_control(thread);
          report_.hidden_instructions += data.instructions;
        } else if constexpr (std::is_same_v<T, KernelAccess>) {
          if (data.size == 0) problem("the kernel accessed 0 bytes");
          if (data.write) overwrite(thread, data.address, data.size);
        } else if constexpr (std::is_same_v<T, Signal> || std::is_same_v<T, Fork> || std::is_same_v<T, Exec>) {
          forget_control(thread);
        }
      },
      side.data);
}

void Checker::allocation(const SideEvent& side, const Allocation& allocation, ThreadState& thread) {
  const bool failed_realloc =
      allocation.function == Allocation::Function::kRealloc && allocation.address == 0 && allocation.size != 0;
  if (allocation.old_address != 0 && !failed_realloc) release(allocation.old_address, thread);
  if (allocation.address != 0) allocate(side, allocation.address, std::max<std::uint64_t>(allocation.size, 1));
}

void Checker::release(std::uint64_t address, const ThreadState& thread) {
  const auto late = [&](const HeldBack& held) { return held.old_address == address && thread.last_event < held.time; };
  const auto held = std::find_if(held_back_.begin(), held_back_.end(), late);
  if (held != held_back_.end()) {
    held_back_.erase(held);  // the block was free already when it became another's
  } else {
    live_.erase(address);
  }
}

void Checker::allocate(const SideEvent& side, std::uint64_t address, std::uint64_t size) {
  const std::uint64_t end = address + size;
  if (end < address || end > kUserSpaceEnd) {
    add(time_, {side.thread, side.position,
                fmt::format("a heap block of {} bytes at {:#x} does not fit into memory", size, address)});
    return;
  }
  auto at = live_.lower_bound(end);
  while (at != live_.begin() && std::prev(at)->second.end > address) {
    const auto old = std::prev(at);
    Problem problem{side.thread, side.position,
                    fmt::format("the new heap block {:#x}..{:#x} overlaps {:#x}..{:#x}, allocated by thread {} at "
                                "event {} and not freed",
                                address, end, old->first, old->second.end, old->second.thread, old->second.position)};
    if (held_back_.size() < kMostHeldBack) {
      held_back_.push_back({time_, old->first, std::move(problem)});
    } else {
      add(time_, std::move(problem));
    }
    at = live_.erase(old);
  }
  live_.emplace_hint(at, address, LiveBlock{end, side.thread, side.position});
}

void Checker::check_end() {
  report_.threads = threads_.size();
  const std::optional<EndInfo>& end = reader_.end();
  if (!end || !reader_.damage().empty()) return;
  const auto compare = [this](const char* what, std::uint64_t said, std::uint64_t counted) {
    if (said != counted) add_for_file(fmt::format("the end record says {} {}, but there are {}", said, what, counted));
  };
  compare("instructions", end->instructions, report_.instructions);
  compare("hidden instructions", end->hidden_instructions, report_.hidden_instructions);
  compare("events", end->events, report_.events);
  compare("side events", end->side_events, report_.side_events);
  compare("threads", end->threads, report_.threads);
  if (hashing_ && end->checksum != hash_.value()) {
    add_for_file("the events are not those that were recorded: their checksum differs");
  }
}

}  // namespace

std::string Problem::describe() const {
  return thread ? fmt::format("thread {}, event {}: {}", *thread, position, text) : text;
}

CheckReport check(const Reader& reader, std::size_t most_problems) { return Checker(reader, most_problems).run(); }

}  // namespace loopfold::trace
