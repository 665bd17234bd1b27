// See ingest.h. The hot path is write_plain(): the writer takes the executions as the words that they came in.
// execute() does the same, one by one, for whatever needs more: first executions, hidden code, and options that look at
// every execution.
#include "recorder/host/ingest.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include "recorder/host/block_table.h"
#include "recorder/host/call_stack.h"
#include "symbols/elf_file.h"
#include "trace/event_hash.h"

namespace loopfold::recorder {

namespace {

using trace::ExitKind;
using trace::SideData;

constexpr std::uint64_t kSysClone = 56;
constexpr std::uint64_t kSysExit = 60;
constexpr std::uint64_t kSysExitGroup = 231;
constexpr std::uint64_t kSysFork = 57;
constexpr std::uint64_t kSysVfork = 58;
constexpr std::uint64_t kCloneThread = 0x10000;

/// A function whose insides are being skipped.
struct HiddenCall {
  std::uint32_t function = 0;  // wire::Function, or 0
  std::uint64_t instructions = 0;
  std::uint64_t arguments[3] = {};
};

/// What is known about a thread while its records are read.
struct ThreadState {
  trace::ThreadId id = 0;
  CallStackTracker stack;
  HiddenCall hidden;
  std::vector<HiddenCall> interrupted;  // what was hidden when signal handlers were entered, outermost first
  std::uint64_t library = 0;            // instructions in libraries not yet reported (--no-libs)
  std::uint64_t clone_flags = 0;

  static constexpr std::size_t kMostInterrupted = 64;  // handlers left by longjmp never return

  void enter_handler() {
    if (interrupted.size() == kMostInterrupted) interrupted.erase(interrupted.begin());
    interrupted.push_back(std::exchange(hidden, {}));
  }
  void leave_handler() {
    if (interrupted.empty()) return;
    hidden = interrupted.back();
    interrupted.pop_back();
  }
  /// Back in `function`, if that is what a handler interrupted and longjmp left together with it.
  void unwind_to(std::uint32_t function) {
    while (hidden.function != function && !interrupted.empty()) leave_handler();
  }
};

std::string unpack(std::span<const std::uint64_t> words, std::uint64_t characters) {
  const std::size_t length = std::min<std::uint64_t>(characters, words.size_bytes());
  return {reinterpret_cast<const char*>(words.data()), length};
}

trace::Allocation allocation(std::uint32_t function, const std::uint64_t (&a)[3], std::uint64_t result) {
  using F = trace::Allocation::Function;
  trace::Allocation allocation;
  allocation.address = result;
  switch (function) {
    case wire::kFunctionCalloc:
      allocation.function = F::kCalloc;
      allocation.size = a[0] * a[1];
      break;
    case wire::kFunctionRealloc:
      allocation.function = F::kRealloc;
      allocation.old_address = a[0];
      allocation.size = a[1];
      break;
    case wire::kFunctionReallocArray:
      allocation.function = F::kRealloc;
      allocation.old_address = a[0];
      allocation.size = a[1] * a[2];
      break;
    case wire::kFunctionMemalign:
      allocation.function = F::kMemalign;
      allocation.alignment = a[0];
      allocation.size = a[1];
      break;
    case wire::kFunctionPosixMemalign:
      allocation.function = F::kMemalign;
      allocation.alignment = a[1];
      allocation.size = a[2];
      break;
    case wire::kFunctionValloc:
      allocation.function = F::kMemalign;
      allocation.alignment = 4096;
      allocation.size = a[0];
      break;
    case wire::kFunctionFree:
    case wire::kFunctionDelete:
      allocation.function = function == wire::kFunctionFree ? F::kFree : F::kDelete;
      allocation.old_address = a[0];
      allocation.address = 0;
      break;
    case wire::kFunctionNew:
    case wire::kFunctionNewAligned:
      allocation.function = F::kNew;
      allocation.size = a[0];
      allocation.alignment = function == wire::kFunctionNewAligned ? a[1] : 0;
      break;
    default:
      allocation.size = a[0];
      break;
  }
  return allocation;
}

}  // namespace

struct Ingest::State {
  State(trace::Writer& w, const RecordOptions& o, const std::string& p)
      : writer(w), options(o), program(p), blocks(w), recording(o.scope == Scope::kStart) {}

  trace::Writer& writer;
  const RecordOptions& options;
  std::string program;
  BlockTable blocks;
  CallStackTable stacks;
  std::deque<ThreadState> threads;
  ThreadState* thread = nullptr;
  std::uint64_t slice = 0;
  bool slice_begun = false;
  bool recording;
  bool announced = false;  // the Recording{on} of Scope::kStart
  bool entered = false;
  std::uint64_t scope_depth = 0;
  bool done = false;
  bool exec_pending = false;
  std::uint64_t children = 0;
  trace::EventHash hash;
  std::uint64_t differing = 0;  // derived values that are not what was stored (verified recordings)
  trace::EndInfo end;
  std::optional<int> exit_status;
  std::optional<Undecodable> undecodable;
  std::vector<trace::Module> modules;

  // ---- output ----
  void side(SideData data) {
    flush_library();
    trace::SideEvent event;
    event.thread = thread->id;
    event.slice = slice;
    event.data = std::move(data);
    writer.side(std::move(event));
    end.side_events++;
  }

  void flush_library() {
    if (thread->library == 0) return;
    const std::uint64_t instructions = std::exchange(thread->library, 0);
    end.hidden_instructions += instructions;
    side(trace::Hidden{trace::Hidden::Reason::kLibrary, instructions});
  }

  trace::StackId current_stack() {
    const auto [id, added] = stacks.intern(thread->stack.innermost());
    if (added) writer.add_stack(thread->stack.innermost());
    return id;
  }

  void switch_recording(bool on) {
    if (recording == on) return;
    flush_library();
    recording = on;
    entered |= on;
    side(trace::Recording{on});
  }

  void stop(trace::EndInfo::Reason reason) {
    done = true;
    end.reason = reason;
  }

  // ---- block executions ----
  void emit(trace::ExitId exit, std::uint16_t instructions, std::span<const std::uint64_t> slots) {
    writer.event(thread->id, slice, exit, slots);
    if (options.checksum) hash.add(thread->id, exit, slots);
    end.events++;
    end.instructions += instructions;
    if (options.max_instructions != 0 && end.instructions >= options.max_instructions) {
      stop(trace::EndInfo::Reason::kInstructionLimit);
    }
  }

  void execute(std::uint32_t id, WireExit& exit, const std::uint64_t* slots) {
    if (thread->hidden.function != 0) {
      thread->hidden.instructions += exit.instructions;
      return;
    }
    if (recording) {
      if (options.no_libs && !exit.main_program) {
        thread->library += exit.instructions;
      } else {
        if (thread->library != 0) flush_library();
        if (exit.trace_exit == WireExit::kUnassigned) blocks.assign(id);
        if (options.verify) differing += blocks.differing(id, {slots, exit.slots});
        emit(exit.trace_exit, exit.instructions, {slots, exit.slots});
      }
    }
    if (exit.sp_slot != wire::kNoSlot) follow_stack(exit, slots[exit.sp_slot] + exit.sp_offset);
    if (exit.kind == ExitKind::kTrap && !blocks.trap_bytes(id).empty()) {
      undecodable = Undecodable{blocks.end_of(id), blocks.trap_bytes(id)};
    }
  }

  /// Is every execution of the current thread recorded, with nothing to be found out about it?
  bool records_all() const {
    return recording && thread != nullptr && thread->hidden.function == 0 && thread->library == 0 && !options.no_libs &&
           !options.verify && !options.checksum && options.max_instructions == 0;
  }

  /// Writes down the executions at words[at] and behind it, up to the first that is not plain or any other record.
  /// Returns where that is. Only while records_all().
  std::size_t write_plain(std::span<const std::uint64_t> words, std::size_t at) {
    for (;;) {
      trace::EventWords in(words.subspan(at), blocks.plain_exits());
      writer.events(thread->id, slice, in);
      end.events += in.events();
      end.instructions += in.instructions();
      for (const std::uint64_t* const noted : in.noted()) follow_stack(*noted, noted + 1);
      at += in.words();
      if (in.noted().size() < trace::EventWords::kMostNoted) return at;
    }
  }

  /// Counts the executions at words[at] and behind it that are inside a hidden function, up to any other record.
  /// Returns where that is.
  std::size_t count_hidden(std::span<const std::uint64_t> words, std::size_t at) {
    const std::span<const WireExit> exits = blocks.exits();
    std::uint64_t instructions = 0;
    while (at < words.size() && words[at] < exits.size()) {
      const WireExit& exit = exits[words[at]];
      if (!exit.known || words.size() - at <= exit.slots) break;
      instructions += exit.instructions;
      at += std::size_t{1} + exit.slots;
    }
    thread->hidden.instructions += instructions;
    return at;
  }

  /// The wire's exit `id` has a stack pointer.
  void follow_stack(std::uint64_t id, const std::uint64_t* slots) {
    const WireExit& exit = blocks.exit(static_cast<std::uint32_t>(id));
    follow_stack(exit, slots[exit.sp_slot] + exit.sp_offset);
  }

  void follow_stack(const WireExit& exit, std::uint64_t sp) {
    if (exit.kind == ExitKind::kCall || exit.kind == ExitKind::kIndirectCall) {
      thread->stack.call(sp, exit.block_end);
    } else {
      thread->stack.left(sp);
    }
  }

  void interrupted(std::span<const std::uint64_t> words) {
    if (words.size() < 2 || !recording || thread->hidden.function != 0) return;
    const std::uint32_t base = static_cast<std::uint32_t>(words[0]);
    if (options.no_libs && !blocks.exit(base).main_program) return;
    flush_library();
    const auto partial = blocks.interrupt(base, words[1]);
    if (partial && words.size() >= std::size_t{2} + partial->slots) {
      emit(partial->trace_exit, partial->instructions, words.subspan(2, partial->slots));
    }
  }

  // ---- everything else ----
  void switch_thread(std::uint64_t number) {
    while (threads.size() <= number) {
      threads.emplace_back();
      threads.back().id = static_cast<trace::ThreadId>(threads.size() - 1);
    }
    thread = &threads[number];
    if (slice_begun) slice++;
    slice_begun = true;
  }

  void function_entered(std::span<const std::uint64_t> w) {
    if (w.size() < 6) return;
    const auto function = static_cast<std::uint32_t>(w[0]);
    if (function == wire::kFunctionMain) {
      if (options.scope == Scope::kMain && !entered) switch_recording(true);
    } else if (function == wire::kFunctionScope) {
      scope_depth++;
      if (options.scope == Scope::kOnly || !entered) switch_recording(true);
    } else {
      flush_library();
      thread->hidden = {function, 0, {w[3], w[4], w[5]}};
    }
  }

  void function_left(std::span<const std::uint64_t> w) {
    if (w.size() < 3) return;
    const auto function = static_cast<std::uint32_t>(w[0]);
    if (function == wire::kFunctionMain) {
      if (w[2] == 0) return;  // pthread_exit in main: the other threads go on
      if (options.scope == Scope::kMain || options.scope == Scope::kFrom) switch_recording(false);
    } else if (function == wire::kFunctionScope) {
      if (scope_depth > 0) scope_depth--;
      if (options.scope == Scope::kOnly && scope_depth == 0) switch_recording(false);
    } else {
      thread->unwind_to(function);
      if (thread->hidden.function == function) reveal(w[1]);
    }
  }

  void reveal(std::uint64_t result) {
    const HiddenCall call = std::exchange(thread->hidden, {});
    const std::uint64_t instructions = recording ? call.instructions : 0;
    end.hidden_instructions += instructions;
    if (call.function == wire::kFunctionResolver) {
      if (recording) side(trace::Hidden{trace::Hidden::Reason::kResolver, instructions});
      return;
    }
    // Allocations before the scope are kept: what they made may be used in it.
    trace::Allocation made = allocation(call.function, call.arguments, result);
    made.stack = current_stack();
    made.hidden_instructions = instructions;
    side(made);
  }

  void module(std::span<const std::uint64_t> w) {
    if (w.size() < 4) return;
    trace::Module module;
    module.path = unpack(w.subspan(4), w[3]);
    module.start = w[0];
    module.size = w[1];
    module.load_bias = w[0] - w[2];
    module.main_program = module.path == program;
    if (const auto file = symbols::inspect_elf(module.path)) {
      module.build_id = file->build_id;
      module.load_bias = file->load_bias(w[0], w[2]).value_or(module.load_bias);
    }
    modules.push_back(module);
    writer.add_module(module);
  }

  bool in_main_program(std::uint64_t address) const {
    const auto here = [&](const trace::Module& m) { return m.start <= address && address < m.start + m.size; };
    const auto found = std::find_if(modules.rbegin(), modules.rend(), here);
    return found == modules.rend() || found->main_program;
  }

  void syscall(std::uint32_t id, std::span<const std::uint64_t> w) {
    if (id == wire::kSyscallEnter && w.size() >= 7) {
      thread->clone_flags = w[1];
      if (w[0] == kSysExit || w[0] == kSysExitGroup) exit_status = static_cast<int>(w[1] & 0xff);
      if (!recording) return;
      trace::SyscallEnter enter;
      enter.number = static_cast<std::uint32_t>(w[0]);
      std::copy_n(w.begin() + 1, 6, enter.arguments.begin());
      side(enter);
    } else if (id == wire::kSyscallReturn && w.size() >= 2) {
      exec_pending = false;
      const auto result = static_cast<std::int64_t>(w[1]);
      if (recording) side(trace::SyscallReturn{static_cast<std::uint32_t>(w[0]), result});
      const bool forks =
          w[0] == kSysFork || w[0] == kSysVfork || (w[0] == kSysClone && (thread->clone_flags & kCloneThread) == 0);
      if (forks && result > 0) {
        children++;
        side(trace::Fork{w[1]});
      }
    }
  }

  void kernel_access(std::uint32_t id, std::span<const std::uint64_t> w) {
    if (w.size() < 3 || !recording) return;
    using Cause = trace::KernelAccess::Cause;
    const Cause cause = w[2] == wire::kCauseSyscall  ? Cause::kSyscall
                        : w[2] == wire::kCauseSignal ? Cause::kSignal
                                                     : Cause::kOther;
    side(trace::KernelAccess{id == wire::kKernelWrite, cause, w[0], w[1]});
  }

  void mapping(std::uint32_t id, std::span<const std::uint64_t> w) {
    if (w.size() < 2) return;
    using Operation = trace::Mapping::Operation;
    trace::Mapping mapping;
    mapping.address = w[0];
    mapping.size = w[1];
    if (id == wire::kUnmap) {
      mapping.operation = Operation::kUnmap;
    } else if (w.size() < 3) {
      return;
    } else if (id == wire::kRemap) {
      mapping.operation = Operation::kRemap;
      mapping.old_address = w[0];
      mapping.address = w[1];
      mapping.size = mapping.old_size = w[2];
    } else if (id == wire::kBreak) {
      mapping.operation = w[2] != 0 ? Operation::kBreak : Operation::kUnmap;
      mapping.protection = 3;
    } else {
      mapping.operation = id == wire::kMap ? Operation::kMap : Operation::kProtect;
      mapping.protection = static_cast<std::uint8_t>(w[2]);
    }
    if (id == wire::kMap) mapping.stack = current_stack();
    side(mapping);
  }

  void record(std::uint32_t id, std::span<const std::uint64_t> w) {
    if (id == wire::kDescribe) {
      if (w.size() >= 4) blocks.describe(w, in_main_program(w[0]));
      return;
    }
    if (id == wire::kModule) return module(w);
    if (id == wire::kThread && !w.empty()) return switch_thread(w[0]);
    if (thread == nullptr) switch_thread(0);
    switch (id) {
      case wire::kThreadStart:
        if (w.size() < 3) break;
        end.threads++;
        side(trace::ThreadStart{static_cast<trace::ThreadId>(w[1]), w[2]});
        if (options.scope == Scope::kStart && !announced) {
          announced = entered = true;
          side(trace::Recording{true});
        }
        break;
      case wire::kThreadEnd:
        side(trace::ThreadEnd{});
        break;
      case wire::kSyscallEnter:
      case wire::kSyscallReturn:
        syscall(id, w);
        break;
      case wire::kKernelRead:
      case wire::kKernelWrite:
        kernel_access(id, w);
        break;
      case wire::kMap:
      case wire::kUnmap:
      case wire::kRemap:
      case wire::kProtect:
      case wire::kBreak:
        mapping(id, w);
        break;
      case wire::kMark:
        if (w.size() >= 2) side(trace::Mark{w[0] != 0, unpack(w.subspan(2), w[1])});
        break;
      case wire::kSignalEnter:
        if (w.size() < 2) break;
        thread->enter_handler();
        side(trace::Signal{true, static_cast<std::uint32_t>(w[0]), w[1] != 0});
        break;
      case wire::kSignalReturn:
        if (w.empty()) break;
        thread->leave_handler();
        side(trace::Signal{false, static_cast<std::uint32_t>(w[0]), false});
        break;
      case wire::kExec:
        if (w.empty()) break;
        exec_pending = true;
        side(trace::Exec{unpack(w.subspan(1), w[0])});
        break;
      case wire::kFunctionEnter:
        function_entered(w);
        break;
      case wire::kFunctionLeave:
        function_left(w);
        break;
      case wire::kInterrupted:
        interrupted(w);
        break;
      default:
        break;
    }
  }

  /// Length in words of the record at the front, or 0 if it is not all there.
  std::size_t record_words(std::span<const std::uint64_t> words) {
    const std::uint32_t id = static_cast<std::uint32_t>(words[0]);
    std::size_t length = words[0] >> 32;
    if (id >= wire::kFirstExit) {
      const WireExit& exit = blocks.exit(id);
      if (!exit.known) return 0;
      length = exit.slots;
    }
    return length + 1 <= words.size() ? length + 1 : 0;
  }
};

Ingest::Ingest(trace::Writer& writer, const RecordOptions& options, const std::string& program)
    : state_(std::make_unique<State>(writer, options, program)) {}

Ingest::~Ingest() = default;

Ingest::Consumed Ingest::consume(std::span<const std::uint64_t> words) {
  State& s = *state_;
  std::size_t at = 0;
  if (s.thread == nullptr && !words.empty() && words[0] >= wire::kFirstExit) s.switch_thread(0);
  while (at < words.size() && !s.done) {
    if (s.records_all()) {
      at = s.write_plain(words, at);
    } else if (s.thread != nullptr && s.thread->hidden.function != 0) {
      at = s.count_hidden(words, at);
    }
    if (at == words.size()) break;
    const std::uint64_t header = words[at];
    if (header >= wire::kFirstExit && header <= 0xffffffff) [[likely]] {
      const auto id = static_cast<std::uint32_t>(header);
      WireExit& exit = s.blocks.exit(id);
      if (!exit.known || words.size() - at <= exit.slots) break;  // cannot happen with a sound target
      s.execute(id, exit, &words[at + 1]);
      at += std::size_t{1} + exit.slots;
      continue;
    }
    const std::size_t length = header >> 32;
    if (header == wire::kEndOfSegment || words.size() - at <= length) break;
    s.record(static_cast<std::uint32_t>(header), words.subspan(at + 1, length));
    at += 1 + length;
  }
  if (!s.done && s.writer.error()) s.stop(trace::EndInfo::Reason::kWriteError);
  if (!s.done && s.options.max_trace_bytes != 0 && s.writer.bytes_written() >= s.options.max_trace_bytes) {
    s.stop(trace::EndInfo::Reason::kSizeLimit);
  }
  if (s.done) return {words.size(), false};
  return {at, at < words.size() && words[at] == wire::kEndOfSegment};
}

void Ingest::consume_tail(std::span<const std::uint64_t> words) {
  State& s = *state_;
  std::size_t at = 0;
  std::size_t last = 0;
  // Only block executions can be trusted behind the published end; a special record may be half-written.
  while (at < words.size() && words[at] >= wire::kFirstExit && words[at] <= 0xffffffff) {
    const std::size_t length = s.record_words(words.subspan(at));
    if (length == 0) break;
    last = at;
    at += length;
  }
  if (last > 0) consume(words.first(last));
}

void Ingest::give_up() { state_->stop(trace::EndInfo::Reason::kRecorderLost); }

bool Ingest::done() const { return state_->done; }
trace::EndInfo::Reason Ingest::reason() const { return state_->end.reason; }
trace::EndInfo Ingest::end_info() const {
  trace::EndInfo end = state_->end;
  if (state_->options.checksum) end.checksum = state_->hash.value();
  return end;
}
bool Ingest::scope_entered() const { return state_->entered; }
bool Ingest::replaced_by_exec() const { return state_->exec_pending; }
std::uint64_t Ingest::differing() const { return state_->differing; }
std::uint64_t Ingest::children() const { return state_->children; }
std::optional<int> Ingest::exit_status() const { return state_->exit_status; }
const std::optional<Undecodable>& Ingest::undecodable() const { return state_->undecodable; }
const std::vector<trace::Module>& Ingest::modules() const { return state_->modules; }

}  // namespace loopfold::recorder
