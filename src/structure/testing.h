// For tests: traces made by hand, step by step, with correct stack pointers; and what the walks make of them.
//
// A Script plays the program and the recorder at once. It stands at a *piece* of code (straight instructions of four
// bytes each); each step runs the piece and leaves it in one way: a jump, a call, a return, a signal. What a recorder
// would have seen is written with trace::Writer, so runs come out of the real encoder. What really happened (which
// activation ran which piece) goes into a log, which walk_reference.h takes for the truth.
//
// An instruction's address decides what it is: 4 modulo 16 is a load, 8 an addition of doubles, any other does nothing.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "structure/activations.h"
#include "structure/code_map.h"
#include "trace/reader.h"
#include "trace/testing.h"
#include "trace/writer.h"

namespace loopfold::structure::testing {

inline constexpr std::uint64_t kBytes = 4;  // of every instruction
inline bool is_load(std::uint64_t address) { return address % 16 == 4; }
inline bool is_floating(std::uint64_t address) { return address % 16 == 8; }

/// LOOPFOLD_SOAK multiplies how often random tests are repeated, LOOPFOLD_SEED moves their seeds.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}
inline std::uint64_t soak() { return from_environment("LOOPFOLD_SOAK", 1); }
inline std::uint64_t seed(std::uint64_t number) { return from_environment("LOOPFOLD_SEED", 0) * 1000003 + number; }

/// What really happened. An activation's depth is its number on its stack, 1 for the first.
struct Happening {
  enum class Kind {
    kBegin,   // a stack begins, with a function at `address`; if `number` is 1, in the middle of one
    kCall,    // of the function at `address`
    kUnwind,  // activations end until `number` are left
    kJump,    // to `address`; 0: into hidden code; if `number` is 1, into an older activation, by longjmp or the like
    kFall,    // into `address`, without an instruction that leads there
    kBehind,  // the stack's first function has returned to `address`: that is taken for a tail call
    kPart,    // `number` instructions ran, from `address` on
    kEnd,     // of the stack
  };
  Kind kind = Kind::kPart;
  std::uint32_t stack = 0;
  Origin origin = Origin::kThread;
  std::uint64_t address = 0;
  std::uint64_t number = 0;
};

/// A trace and the truth about it.
struct Story {
  std::unique_ptr<trace::testing::TempFile> file;
  std::unique_ptr<trace::Reader> reader;
  FunctionFacts facts;
  std::vector<Happening> log;
  std::set<std::uint64_t> places;
  std::set<std::uint64_t> starts;  // that symbols and direct calls tell
};

class Script {
 public:
  using ExitKind = trace::ExitKind;
  static constexpr std::uint64_t kFrame = 32;  // bytes of an activation, unless it asks for more
  static constexpr std::uint64_t kAnyMalloc = 0x9000;

  Script() : file_(std::make_unique<trace::testing::TempFile>()) {
    writer_ = *trace::Writer::create(file_->path(), trace::testing::sample_info());
  }

  // ---- Code ----
  /// How many instructions the piece at `address` has; 2 if nothing is said.
  void set_size(std::uint64_t address, std::uint32_t instructions) { sizes_[address] = instructions; }
  std::uint32_t size(std::uint64_t address) const {
    const auto found = sizes_.find(address);
    return found == sizes_.end() ? 2 : found->second;
  }
  /// Symbols know a function here.
  void add_symbol(std::uint64_t start, std::uint64_t end) { symbols_[start] = end; }

  // ---- Steps: run the piece at pc() and leave it ----
  void start(std::uint64_t function) { begin(Origin::kThread, function, top_of_stack()); }
  void jump(std::uint64_t to) { go(ExitKind::kNext, to, to); }
  /// Leaves from the middle, all but the last instruction done.
  void branch_early(std::uint64_t to) {
    early_ = true;
    jump(to);
  }
  void fall() {
    const std::uint64_t to = behind();
    if (leaders_.contains(to)) return jump(to);
    run_piece();
    note(Happening::Kind::kFall, to);
    stack().pc = to;
  }
  void exit(ExitKind kind, std::uint64_t to) { go(kind, std::nullopt, to); }
  void call(std::uint64_t to) { call_as(ExitKind::kCall, to, to); }
  void call_indirect(std::uint64_t to) { call_as(ExitKind::kIndirectCall, std::nullopt, to); }
  /// call .+5: no function is entered.
  void call_next() {
    const std::uint64_t to = behind();
    leave(ExitKind::kCall, to, frame().now - 8);
    expect({{Happening::Kind::kJump, to}}, to);
  }
  /// `bytes` of arguments are popped by the callee.
  void ret(std::uint64_t bytes = 0) {
    const Frame from = frame();
    leave(ExitKind::kReturn, std::nullopt, from.entry + 8 + bytes);
    pop_to(depth() - 1, from.return_address);
  }
  /// Return of the first function of a handler or coroutine.
  void ret_behind(std::uint64_t to) {
    leave(ExitKind::kReturn, std::nullopt, frame().entry + 8);
    expect({{Happening::Kind::kBehind, to}}, to);
  }
  /// Return of the first function of a thread, to what had called it before recording began.
  void ret_under(std::uint64_t to) {
    leave(ExitKind::kReturn, std::nullopt, frame().entry + 8);
    const std::uint64_t stack_pointer = frame().entry + 8;
    const Origin origin = stack().origin;
    drop(current_[thread_]);
    begin(origin, to, stack_pointer + 64);
    stack().pending.back().number = 1;
  }
  void jump_indirect(std::uint64_t to) { leave_to(ExitKind::kIndirectJump, frame().now, to); }
  void tail_call_indirect(std::uint64_t to) { leave_to(ExitKind::kIndirectJump, frame().entry, to); }
  /// longjmp, or (kReturn) how exceptions do it.
  void unwind(std::size_t depth, std::uint64_t to, ExitKind kind = ExitKind::kIndirectJump) {
    const std::uint64_t stack_pointer = stack().frames[depth - 1].now;
    const bool as_if_returned = kind == ExitKind::kReturn && stack_pointer == frame().seen_entry + 8;
    const bool lands = to != stack().frames[depth].return_address && !as_if_returned;
    leave(kind, std::nullopt, stack_pointer);
    pop_to(depth, to);
    stack().pending.back().number = lands ? 1 : 0;
  }
  void alloca(std::uint64_t bytes) { frame().now -= bytes; }

  // ---- Hidden code ----
  void call_malloc() {
    const std::uint64_t to = behind();
    leave(ExitKind::kCall, kAnyMalloc, frame().now - 8);
    side(trace::Allocation{trace::Allocation::Function::kMalloc, 0x5000, 16, 0, 0, trace::kNoStack, 40});
    expect({{Happening::Kind::kJump, to}}, to);
  }
  /// Jumps (PLT) to malloc, which returns to this activation's caller.
  void jump_to_malloc() {
    const Frame from = frame();
    leave(ExitKind::kIndirectJump, std::nullopt, from.entry);
    side(trace::Allocation{trace::Allocation::Function::kMalloc, 0x5000, 16, 0, 0, trace::kNoStack, 40});
    pop_to(depth() - 1, from.return_address);
  }
  /// Calls a library that is left out, which calls `to`.
  void call_back_through(std::uint64_t library, std::uint64_t to) {
    const std::uint64_t back = behind();
    leave(ExitKind::kCall, library, frame().now - 8);
    side(trace::Hidden{trace::Hidden::Reason::kLibrary, 100});
    enter_from_hidden(to, back, frame().now - 8);
  }
  /// The function that was called by hidden code returns to it, and it calls `to`, with `deeper` bytes more on the
  /// stack.
  void ret_to_next_callback(std::uint64_t to, std::uint64_t deeper = 0) {
    const Frame from = frame();
    leave(ExitKind::kReturn, std::nullopt, from.entry + 8);
    side(trace::Hidden{trace::Hidden::Reason::kLibrary, 100});
    stack().frames.pop_back();
    stack().pending = {note_of(Happening::Kind::kUnwind, 0, depth())};
    enter_from_hidden(to, from.return_address, from.entry, deeper);
  }
  /// It returns, and the hidden code returns too.
  void ret_through_hidden() {
    const Frame from = frame();
    leave(ExitKind::kReturn, std::nullopt, from.entry + 8);
    side(trace::Hidden{trace::Hidden::Reason::kLibrary, 100});
    pop_to(depth() - 1, from.return_address);
  }

  // ---- Signals, coroutines, threads ----
  /// In the middle of a block: a fault. Else between two blocks.
  void signal_enter(std::uint64_t handler) {
    if (open_ != 0) {
      const std::uint64_t to = pc();
      emit(ExitKind::kInterrupted, std::nullopt, std::nullopt);
      log_.pop_back();  // it is not fallen into, but where control goes on
      expect({{Happening::Kind::kJump, to}}, to);
    }
    side(trace::Signal{true, 10, false});
    const std::uint64_t stack_pointer = frame().now - 136;
    const std::uint32_t interrupted = current_[thread_];
    begin(Origin::kSignalHandler, handler, stack_pointer);
    stack().interrupted = interrupted;
  }
  void signal_return() {
    leave(ExitKind::kSyscall, std::nullopt, std::nullopt);
    side(trace::Signal{false, 10, false});
    const std::uint32_t interrupted = stack().interrupted;
    drop(current_[thread_]);
    current_[thread_] = interrupted;
  }
  /// longjmp from a handler into what it interrupted.
  void leave_handler(std::size_t depth, std::uint64_t to) {
    const std::uint32_t interrupted = stack().interrupted;
    leave(ExitKind::kIndirectJump, std::nullopt, stacks_[interrupted].frames[depth - 1].now);
    std::vector<Happening> first = {note_of(Happening::Kind::kEnd, 0)};
    stack().frames.clear();
    current_[thread_] = interrupted;
    const std::size_t entered = depth_entered();
    const bool lands = depth >= entered || to != stack().frames[depth].return_address;
    pop_to(depth, to);
    stack().pending.back().number = lands ? 1 : 0;
    stack().pending.insert(stack().pending.begin(), first.begin(), first.end());
  }
  /// Switches to a new stack by a return (or jump) to the start of `function`.
  std::uint32_t start_coroutine(std::uint64_t function, std::uint64_t stack_pointer,
                                ExitKind kind = ExitKind::kReturn) {
    leave(kind, std::nullopt, stack_pointer);
    begin(Origin::kCoroutine, function, stack_pointer);
    return current_[thread_];
  }
  /// Returns on another stack, which waits in its top activation.
  void switch_to(std::uint32_t other, ExitKind kind = ExitKind::kReturn) {
    const Frame waiting = stacks_[other].frames.back();
    leave(kind, std::nullopt, waiting.entry + 8);
    current_[thread_] = other;
    pop_to(depth() - 1, waiting.return_address);
  }
  std::uint32_t current_stack() const { return current_.at(thread_); }

  void set_thread(trace::ThreadId thread) {
    if (thread != thread_) ++slice_;
    thread_ = thread;
  }
  void end_thread() {
    side(trace::ThreadEnd{});
    end_all_of(thread_);
  }
  void set_recording(bool on) {
    side(trace::Recording{on});
    if (!on) return;
    for (auto& [thread, current] : current_) end_all_of(thread);
  }
  void side(trace::SideData data) { writer_->side({thread_, slice_, 0, std::move(data)}); }
  void flush() { writer_->flush(); }

  // ---- Where it stands ----
  std::uint64_t pc() const { return stack().pc; }
  std::uint64_t behind() const { return pc() + kBytes * size(pc()); }
  std::size_t depth() const { return stack().frames.size(); }
  Origin origin() const { return stack().origin; }
  /// Was this activation called by hidden code?
  bool called_back() const { return stack().frames.back().from_hidden; }
  /// Return addresses of the activations, 0 for the first; and those of the stack that this handler has interrupted.
  std::vector<std::uint64_t> return_addresses() const { return return_addresses_of(stack()); }
  std::vector<std::uint64_t> interrupted_return_addresses() const {
    return return_addresses_of(stacks_[stack().interrupted]);
  }
  bool in_block() const { return open_ != 0; }
  bool running() const { return current_.contains(thread_) && !stack().frames.empty(); }

  /// The trace. `with_symbols`: shall functions be known beforehand?
  Story finish(bool with_symbols = false) {
    if (open_ != 0) leave(ExitKind::kOther, std::nullopt, std::nullopt);
    for (auto& [thread, current] : current_) end_all_of(thread);
    writer_->finish({});
    EXPECT_FALSE(writer_->error()) << writer_->error()->message;
    Story story;
    story.file = std::move(file_);
    story.reader = std::move(*trace::Reader::open(story.file->path()));
    story.log = std::move(log_);
    story.places = leaders_;
    for (const std::uint64_t start : starts_)
      if (leaders_.contains(start)) story.starts.insert(start);
    if (!with_symbols) return story;
    for (const auto& [start, end] : symbols_)
      if (leaders_.contains(start)) story.starts.insert(start);
    story.facts.is_start = [symbols = symbols_](std::uint64_t address) { return symbols.contains(address); };
    story.facts.function_of = [symbols = symbols_](std::uint64_t address) -> std::uint64_t {
      auto found = symbols.upper_bound(address);
      if (found == symbols.begin()) return 0;
      --found;
      return address < found->second ? found->first : 0;
    };
    return story;
  }

 private:
  struct Frame {
    std::uint64_t entry = 0;       // stack pointer when it was called
    std::uint64_t seen_entry = 0;  // as far as a trace tells: that of the call of the hidden code that called it
    std::uint64_t now = 0;
    std::uint64_t return_address = 0;
    bool from_hidden = false;
  };
  struct Stack {
    trace::ThreadId thread = 0;
    Origin origin = Origin::kThread;
    std::vector<Frame> frames;
    std::uint64_t pc = 0;
    std::uint32_t interrupted = 0;
    std::vector<Happening> pending;  // has happened as soon as the piece at pc runs
  };

  Stack& stack() { return stacks_[current_.at(thread_)]; }
  const Stack& stack() const { return stacks_[current_.at(thread_)]; }
  Frame& frame() { return stack().frames.back(); }
  /// Without the activation that is called, but has not run yet.
  std::size_t depth_entered() const {
    const std::vector<Happening>& pending = stack().pending;
    return depth() - (!pending.empty() && pending.back().kind == Happening::Kind::kCall ? 1 : 0);
  }
  static std::vector<std::uint64_t> return_addresses_of(const Stack& stack) {
    std::vector<std::uint64_t> addresses;
    for (const Frame& frame : stack.frames) addresses.push_back(frame.return_address);
    return addresses;
  }
  std::uint64_t top_of_stack() const { return 0x7fff00000000 - (std::uint64_t{thread_} << 32); }

  Happening note_of(Happening::Kind kind, std::uint64_t address, std::uint64_t number = 0) const {
    return {kind, current_.at(thread_), stack().origin, address, number};
  }
  void note(Happening::Kind kind, std::uint64_t address, std::uint64_t number = 0) {
    log_.push_back(note_of(kind, address, number));
  }
  void expect(std::vector<std::pair<Happening::Kind, std::uint64_t>> what, std::uint64_t to) {
    for (const auto& [kind, address] : what) stack().pending.push_back(note_of(kind, address));
    stack().pc = to;
  }
  void begin(Origin origin, std::uint64_t function, std::uint64_t stack_pointer) {
    current_[thread_] = static_cast<std::uint32_t>(stacks_.size());
    stacks_.push_back(
        {thread_, origin, {{stack_pointer, stack_pointer, stack_pointer - kFrame, 0, false}}, function, 0, {}});
    expect({{Happening::Kind::kBegin, function}}, function);
  }
  void push(std::uint64_t to, std::uint64_t entry, std::uint64_t return_address) {
    stack().frames.push_back({entry, entry, entry - kFrame, return_address, false});
    expect({{Happening::Kind::kCall, to}}, to);
  }
  void pop_to(std::size_t depth, std::uint64_t to) {
    stack().frames.resize(depth);
    stack().pending = {note_of(Happening::Kind::kUnwind, 0, depth)};
    expect({{Happening::Kind::kJump, to}}, to);
  }
  void enter_from_hidden(std::uint64_t to, std::uint64_t return_address, std::uint64_t seen_entry,
                         std::uint64_t deeper = 0) {
    stack().pending.push_back(note_of(Happening::Kind::kJump, 0));
    push(to, frame().now - 256 - deeper, return_address);
    frame().from_hidden = true;
    frame().seen_entry = seen_entry;
  }
  void drop(std::uint32_t stack) {
    log_.push_back({Happening::Kind::kEnd, stack, stacks_[stack].origin, 0, 0});
    stacks_[stack].frames.clear();
    stacks_[stack].pending.clear();
  }
  void end_all_of(trace::ThreadId thread) {
    for (std::uint32_t i = 0; i < stacks_.size(); ++i)
      if (stacks_[i].thread == thread && !stacks_[i].frames.empty()) drop(i);
  }

  void go(ExitKind kind, std::optional<std::uint64_t> target, std::uint64_t to) {
    leave(kind, target, std::nullopt);
    expect({{Happening::Kind::kJump, to}}, to);
  }
  void leave_to(ExitKind kind, std::uint64_t stack_pointer, std::uint64_t to) {
    leave(kind, std::nullopt, stack_pointer);
    expect({{Happening::Kind::kJump, to}}, to);
  }
  void call_as(ExitKind kind, std::optional<std::uint64_t> target, std::uint64_t to) {
    const std::uint64_t back = behind();
    leave(kind, target, frame().now - 8);
    push(to, frame().now - 8, back);
  }

  /// The piece at pc runs: what led to it has happened.
  void run_piece() {
    log_.insert(log_.end(), stack().pending.begin(), stack().pending.end());
    stack().pending.clear();
    if (open_ == 0) {
      open_address_ = pc();
      leaders_.insert(pc());
    }
    note(Happening::Kind::kPart, pc(), size(pc()) - (early_ ? 1 : 0));
    open_ += size(pc());
  }
  void leave(ExitKind kind, std::optional<std::uint64_t> target, std::optional<std::uint64_t> stack_pointer) {
    run_piece();
    emit(kind, target, stack_pointer);
    if (kind == ExitKind::kCall && target && *target != open_address_ + kBytes * left_) starts_.insert(*target);
  }
  void emit(ExitKind kind, std::optional<std::uint64_t> target, std::optional<std::uint64_t> stack_pointer) {
    const trace::BlockId block = block_of(open_address_, open_);
    left_ = std::exchange(open_, 0) - (std::exchange(early_, false) ? 1 : 0);
    const trace::ExitId exit = exit_of(block, kind, target, stack_pointer.has_value());
    const std::uint64_t slot = stack_pointer.value_or(0);
    writer_->event(thread_, slice_, exit, {&slot, stack_pointer ? std::size_t{1} : std::size_t{0}});
  }

  trace::BlockId block_of(std::uint64_t address, std::uint32_t instructions) {
    const auto [found, added] = blocks_.try_emplace({address, instructions}, blocks_.size());
    if (!added) return found->second;
    trace::Block block;
    block.id = found->second;
    block.address = address;
    for (std::uint16_t i = 0; i < instructions; ++i, address += kBytes) {
      const std::vector<std::uint8_t> bytes = is_load(address) ? std::vector<std::uint8_t>{0x48, 0x8b, 0x43, 0x08}
                                              : is_floating(address)
                                                  ? std::vector<std::uint8_t>{0xf2, 0x0f, 0x58, 0xc1}
                                                  : std::vector<std::uint8_t>{0x0f, 0x1f, 0x40, 0x00};
      block.lengths.push_back(kBytes);
      block.bytes.insert(block.bytes.end(), bytes.begin(), bytes.end());
      if (!is_load(address)) continue;
      trace::Access access;
      access.instruction = i;
      access.size = 8;
      access.address = trace::Value::constant(0x600000);
      block.accesses.push_back(access);
    }
    writer_->add_block(block);
    return block.id;
  }
  trace::ExitId exit_of(trace::BlockId block, ExitKind kind, std::optional<std::uint64_t> target, bool stack_pointer) {
    const auto [found, added] = exits_.try_emplace({block, left_, kind, target, stack_pointer}, exits_.size());
    if (!added) return found->second;
    trace::Exit exit;
    exit.id = found->second;
    exit.block = block;
    exit.kind = kind;
    exit.instructions = static_cast<std::uint16_t>(left_);
    for (std::uint32_t i = 0; i < left_; ++i) exit.accesses += is_load(open_address_ + kBytes * i);
    exit.slots = stack_pointer ? 1 : 0;
    exit.target = target;
    if (stack_pointer) exit.stack_pointer = trace::Value::slot(0);
    writer_->add_exit(exit);
    return exit.id;
  }

  std::unique_ptr<trace::testing::TempFile> file_;
  std::unique_ptr<trace::Writer> writer_;
  std::map<std::uint64_t, std::uint32_t> sizes_;
  std::map<std::uint64_t, std::uint64_t> symbols_;  // start, end
  std::map<std::pair<std::uint64_t, std::uint32_t>, trace::BlockId> blocks_;
  std::map<std::tuple<trace::BlockId, std::uint32_t, ExitKind, std::optional<std::uint64_t>, bool>, trace::ExitId>
      exits_;
  std::set<std::uint64_t> leaders_;
  std::set<std::uint64_t> starts_;  // targets of direct calls

  std::vector<Happening> log_;
  std::vector<Stack> stacks_;
  std::map<trace::ThreadId, std::uint32_t> current_;  // stack of each thread
  trace::ThreadId thread_ = 0;
  std::uint64_t slice_ = 0;
  std::uint64_t open_address_ = 0;
  std::uint32_t open_ = 0;  // instructions of the block that is not left yet
  std::uint32_t left_ = 0;  // that ran of the block that was left last
  bool early_ = false;
};

}  // namespace loopfold::structure::testing
