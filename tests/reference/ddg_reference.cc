// One loop over all events and side events; see the header.
//
// Choices where graph.h leaves one:
// - Producers are the same if statement, instruction and iteration vector are.
// - The accesses of an instruction happen in the order in which the block lists them, behind the reads of its
//   registers and before the writes.
// - A system call's instance is that of its entry: its reads and writes of memory happen where they stand in the trace,
//   it reads and writes the environment at its entry, and rax is produced when it returns. Chunks are counted per
//   operand.
// - Where control is nowhere yet (a thread or handler before its first block), and while recording is off, calls of
//   allocators and system calls are no statements, and what they write has no producer.
// - What the kernel reads has producers but no origins: its chunks have no lanes.
#include "ddg_reference.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include "ddg/system_calls.h"
#include "ddg_copies.h"
#include "ddg_history.h"
#include "ddg_origins.h"
#include "ddg_stack.h"
#include "ddg_state.h"
#include "structure/loop_walk.h"
#include "trace/decode.h"

namespace loopfold::reference {

namespace {

/// Learns of frames that are left.
struct LeftFrames {
  [[maybe_unused]] static constexpr bool kEveryPart = false;
  template <class SomeWalk, class SomeStack>
  void leave(const SomeWalk&, const SomeStack& stack) {
    FrameEntries frames;
    for (const auto& frame : stack.frames) frames.push_back(frame.stack_pointer);
    const AddressRange covered = stacks.leave(stack.data.id, frames);
    const bool given_up = stack.dropped && (begins_again || stack.origin == structure::Origin::kCoroutine);
    if (!given_up && covered.begin < covered.end) memory.clear(covered.begin, covered.end - covered.begin);
  }
  bool begins_again = false;  // recording, after a pause
  StackMemory& stacks;
  Memory& memory;
};

using Walk = structure::LoopWalk<LeftFrames>;
using Tracker = structure::Activations<Walk>;
using Stack = Tracker::Stack;
static_assert(Tracker::kUnknown == kUnknownEntry);
using Kind = ddg::Statement::Kind;

constexpr std::size_t kMostKernelReads = 100;

constexpr unsigned kStackPointer = 4;

/// What is known of an operand beside its cells.
struct Operand {
  std::uint8_t number = 0;
  ddg::Dependence::Kind kind = ddg::Dependence::Kind::kRegister;
  bool address = false;
  bool chunks = false;
  bool reload = false;
};

/// An instruction that runs.
struct Execution {
  Producer self;
  const trace::Block& block;
  std::uint16_t in_block = 0;
  const trace::InstructionFacts& facts;
  const trace::Event& event;
  unsigned top = 0;
  CopyForm form;
  AddressRange youngest_frame;
  // Of a plain load, once it has loaded.
  std::vector<Written> reloaded;  // by byte; empty if it is no reload
  std::shared_ptr<const Loaded> loaded;
};

std::int64_t sign_extended(std::uint64_t value, unsigned bytes) {
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

/// What the instruction computes with: the recorder sees 4 bytes that are written as 8.
std::uint8_t width_of(const trace::IntegerResult& result, const trace::InstructionFacts& facts) {
  const auto narrow = [&](const trace::RegisterUse& use) {
    return use.file == trace::RegisterFile::kGeneral && use.index == result.reg && use.zero_extended;
  };
  return result.width == 8 && std::any_of(facts.writes.begin(), facts.writes.end(), narrow) ? 4 : result.width;
}

/// The thread's own state.
struct Thread {
  struct State {
    Registers registers;
    StackPointer stack_pointer;
  };
  Registers registers;
  StackPointer stack_pointer;
  std::vector<State> interrupted;        // by signal handlers, innermost last
  std::uint32_t system_call = kNobody;   // instance of the one that is going on
  std::size_t kernel_reads = 0;          // of it so far
  std::int64_t last_operand_chunks = 0;  // of the operand that all reads beyond kMostKernelReads share
  std::unique_ptr<Tracker> tracker;
};

class Builder {
 public:
  Builder(const trace::Reader& reader, const structure::Structure& structure)
      : reader_(reader),
        structure_(structure),
        starts_(structure.flow.starts()),
        left_frames_{false, stacks_, memory_},
        walk_(structure, graph_.tree, left_frames_),
        facts_(reader.blocks().size()) {}

  Result<Graph> run() {
    trace::Cursor cursor = reader_.cursor();
    for (;;) {
      const Result<trace::Cursor::Item> item = cursor.next();
      if (!item) return tl::unexpected<Error>(item.error());
      if (*item == trace::Cursor::Item::kEnd) break;
      if (*item == trace::Cursor::Item::kSide) {
        side(cursor.side());
      } else {
        if (++events_ > kMaxEvents)
          return fail(ErrorKind::kBadInput, "more than 5 million events: too long for the reference");
        event(cursor.event());
      }
    }
    origins_.finish();
    for (auto& [key, value] : graph_.values) value.steady = is_steady(value.value);
    return std::move(graph_);
  }

 private:
  // ---- Control --------------------------------------------------------------------------------------------------

  Thread& thread(trace::ThreadId id) {
    Thread& thread = threads_[id];
    if (!thread.tracker) thread.tracker = std::make_unique<Tracker>(structure_.code, starts_, walk_);
    return thread;
  }

  void event(const trace::Event& event) {
    const structure::ExitCode& exit = structure_.code.exit(event.exit);
    const std::span<const structure::Part> parts = structure_.code.parts(exit);
    if (parts.empty()) return;
    const trace::Block& block = reader_.blocks()[reader_.exits()[event.exit].block];
    Thread& thread = this->thread(event.thread);
    walk_.set_thread(event.thread);
    unsigned top = static_cast<unsigned>(trace::evaluate(block, block.ftop, event.slots)) & 7;
    thread.tracker->arrive(parts[0].place);
    outside_[thread.tracker->current()->data.id].clear();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i != 0) thread.tracker->fall_through(parts[i].place);
      part(thread, parts[i], block, event, top);
    }
    thread.tracker->depart(exit,
                           exit.has_stack_pointer ? structure_.code.stack_pointer(event.exit, event.slots.data()) : 0);
  }

  void part(Thread& thread, const structure::Part& part, const trace::Block& block, const trace::Event& event,
            unsigned& top) {
    const std::uint32_t instance =
        new_instance(*thread.tracker->current(), Kind::kCode, part.place, 0, variant_of(block, part));
    graph_.statements[history_[instance].statement].in_blocks.insert({block.id, part.first_instruction});
    const std::vector<trace::InstructionFacts>& facts = facts_of(block);
    const FrameEntries frames = frame_entries(*thread.tracker->current());
    for (std::uint16_t i = 0; i < part.instructions; ++i) {
      const auto in_block = static_cast<std::uint16_t>(part.first_instruction + i);
      ++graph_.instructions;
      describe(instance, i, block, in_block, facts[in_block]);
      Execution execution{{instance, i}, block, in_block, facts[in_block], event, top, {}, {}, {}, {}};
      execution.form = copy_form(facts[in_block], accesses_of(block, in_block));
      execution.youngest_frame = follow_stack_pointer(thread, execution, frames);
      execute(thread, execution);
      top = (top + static_cast<unsigned>(facts[in_block].x87_pops)) & 7;
    }
  }

  static FrameEntries frame_entries(const Stack& stack) {
    FrameEntries frames;
    for (const Tracker::Frame& frame : stack.frames) frames.push_back(frame.stack_pointer);
    return frames;
  }

  static std::vector<trace::Access> accesses_of(const trace::Block& block, std::uint16_t in_block) {
    std::vector<trace::Access> found;
    for (const trace::Access& access : block.accesses)
      if (access.instruction == in_block) found.push_back(access);
    return found;
  }

  /// The youngest frame during the instruction.
  AddressRange follow_stack_pointer(Thread& thread, const Execution& x, const FrameEntries& frames) {
    const StackPointer before = thread.stack_pointer;
    const std::uint64_t stack = history_[x.self.instance].stack;
    const std::size_t results = reader_.exits()[x.event.exit].results;
    for (std::size_t i = 0; i < results; ++i) {
      const trace::IntegerResult& result = x.block.results[i];
      if (result.instruction == x.in_block && result.reg == kStackPointer && result.width == 8)
        stacks_.move(thread.stack_pointer, stack, frames, trace::evaluate(x.block, result.value, x.event.slots),
                     stack_pointer_source(x.facts));
    }
    return stacks_.youngest_frame(before, thread.stack_pointer, stack, frames);
  }

  const std::vector<trace::InstructionFacts>& facts_of(const trace::Block& block) {
    std::vector<trace::InstructionFacts>& facts = facts_[block.id];
    if (facts.empty()) facts = trace::decode(block);
    return facts;
  }

  /// The statement of `stack`'s current node and place, at the current iteration vector.
  std::uint32_t new_instance(const Stack& stack, Kind kind, structure::PlaceId place, std::uint32_t detail,
                             std::uint32_t variant) {
    const Walk::Frame& frame = stack.frames.back().data;
    const StatementKey key{kind, stack.data.context, frame.function, frame.current, place, detail, variant};
    std::vector<std::int64_t> vector;
    std::vector<std::uint64_t> entries;
    for (const structure::Dimension& dimension : stack.data.dimensions) {
      vector.push_back(static_cast<std::int64_t>(dimension.counter));
      entries.push_back(dimension.serial);
    }
    const auto [found, added] = statement_of_.try_emplace(key, static_cast<std::uint32_t>(graph_.statements.size()));
    if (added) {
      Statement& statement = graph_.statements.emplace_back();
      statement.key = key;
      statement.counting = counting_contexts(key.context);
      statement.domain.dimensions = vector.size();
      if (kind != Kind::kCode) statement.instructions.resize(1);
    }
    graph_.statements[found->second].domain.add(vector, {});
    return history_.add(found->second, std::move(vector), stack.data.id, entries);
  }

  /// Those around `context` and itself that have a counter, outermost first.
  std::vector<structure::ContextId> counting_contexts(structure::ContextId context) const {
    std::vector<structure::ContextId> found;
    for (; context != structure::LoopTree::root(); context = graph_.tree[context].parent)
      if (graph_.tree[context].kind != structure::Context::Kind::kCall) found.push_back(context);
    std::reverse(found.begin(), found.end());
    return found;
  }

  /// The same for what the run did outside the program's own instructions, where control is now.
  std::uint32_t new_instance_at(Thread& thread, Kind kind, std::uint32_t detail) {
    const Stack* const stack = thread.tracker->current();
    if (!recording_ || stack == nullptr || stack->frames.empty()) return kNobody;
    const Walk::Frame& frame = stack->frames.back().data;
    const structure::PlaceId place = structure_.flow.functions()[frame.function].places[frame.current];
    const StatementKey key{kind, stack->data.context, frame.function, frame.current, place, detail, 0};
    return new_instance(*stack, kind, place, detail, outside_[stack->data.id][key]++);
  }

  /// Pieces of code are the same if one begins like the other.
  std::uint32_t variant_of(const trace::Block& block, const structure::Part& part) {
    const auto begin = block.lengths.begin() + part.first_instruction;
    const auto from = std::accumulate(block.lengths.begin(), begin, std::ptrdiff_t{0});
    const auto size = std::accumulate(begin, begin + part.instructions, std::ptrdiff_t{0});
    const std::vector<std::uint8_t> code(block.bytes.begin() + from, block.bytes.begin() + from + size);
    std::vector<std::vector<std::uint8_t>>& known = code_at_[part.place];
    for (std::uint32_t i = 0; i < known.size(); ++i) {
      const std::size_t common = std::min(known[i].size(), code.size());
      if (!std::equal(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(common), known[i].begin())) continue;
      if (code.size() > common) known[i] = code;
      return i;
    }
    known.push_back(code);
    return static_cast<std::uint32_t>(known.size() - 1);
  }

  void describe(std::uint32_t instance, std::uint16_t instruction, const trace::Block& block, std::uint16_t in_block,
                const trace::InstructionFacts& facts) {
    Statement& statement = graph_.statements[history_[instance].statement];
    if (instruction < statement.instructions.size()) return;
    std::uint64_t address = block.address;
    for (std::uint16_t i = 0; i < in_block; ++i) address += block.lengths[i];
    statement.instructions.push_back({address, facts.kinds});
    statement.facts.push_back(facts);
    statement.texts.push_back(trace::disassemble(block, in_block));
  }

  // ---- Instructions ---------------------------------------------------------------------------------------------

  void execute(Thread& thread, Execution& x) {
    const trace::Exit& exit = reader_.exits()[x.event.exit];
    for (std::size_t i = 0; i < x.facts.reads.size(); ++i) read_operand(thread, x, i);
    read_flags(thread, x.self, x.facts.flags_read);
    std::uint8_t index = 0;
    for (std::size_t i = 0; i < exit.accesses; ++i)
      if (x.block.accesses[i].instruction == x.in_block && trace::accesses_memory(x.facts))
        access(thread, x, x.block.accesses[i], index++,
               trace::evaluate(x.block, x.block.accesses[i].address, x.event.slots));
    write_registers(thread, x);
    index = 0;
    for (std::size_t i = 0; i < exit.results; ++i)
      if (x.block.results[i].instruction == x.in_block)
        value(x.self, x.block.results[i], width_of(x.block.results[i], x.facts), index++,
              trace::evaluate(x.block, x.block.results[i].value, x.event.slots));
  }

  void read_operand(Thread& thread, const Execution& x, std::size_t i) {
    const trace::RegisterUse& use = x.facts.reads[i];
    const Operand operand{static_cast<std::uint8_t>(i), ddg::Dependence::Kind::kRegister, use.address};
    const std::vector<Byte> bytes = bytes_in(thread.registers, Registers::read_by(use, x.top));
    consume(x.self, operand, bytes);
    const bool stack_pointer = use.file == trace::RegisterFile::kGeneral && use.index == kStackPointer;
    if (!use.merge && !use.step && !stack_pointer && !is_copied(x, i)) origins_.use(x.self, operand.number, bytes);
  }

  /// Is it what a register copy or a spill copies? Stores that are not in the youngest frame are no spills.
  static bool is_copied(const Execution& x, std::size_t read) {
    if (x.form.kind == CopyForm::Kind::kRegisterCopy) return x.form.data == read;
    return x.form.kind == CopyForm::Kind::kStoredRegister && x.form.data == read && is_spill(x);
  }

  /// A store of the right form, to the youngest frame.
  static bool is_spill(const Execution& x) {
    if (x.form.kind != CopyForm::Kind::kStoredRegister && x.form.kind != CopyForm::Kind::kStoredConstant) return false;
    const std::vector<trace::Access> accesses = accesses_of(x.block, x.in_block);
    const std::uint64_t address = trace::evaluate(x.block, accesses[0].address, x.event.slots);
    return address >= x.youngest_frame.begin && address < x.youngest_frame.end;
  }

  static std::vector<Byte> bytes_in(const Registers& registers, const Cells& cells) {
    std::vector<Byte> bytes;
    for (const std::size_t cell : cells) bytes.push_back({static_cast<std::uint16_t>(bytes.size()), registers[cell]});
    return bytes;
  }

  void read_flags(Thread& thread, const Producer& self, std::uint8_t set) {
    std::vector<Byte> bytes;
    for (const std::size_t cell : Registers::flags(set))
      bytes.push_back({static_cast<std::uint16_t>(cell - Registers::kFlags), thread.registers[cell]});
    consume(self, {ddg::kFlagsOperand, ddg::Dependence::Kind::kRegister}, bytes);
  }

  void access(Thread& thread, Execution& x, const trace::Access& access, std::uint8_t index, std::uint64_t address) {
    if (access.guarded && address == 0) return;
    const Instance& instance = history_[x.self.instance];
    Access& stream = graph_.accesses[{instance.statement, x.self.instruction, index}];
    stream.store = access.kind == trace::Access::Kind::kStore;
    stream.guarded = access.guarded;
    stream.size = access.size;
    stream.address.dimensions = instance.vector.size();
    stream.address.outputs = 1;
    stream.address.add(instance.vector, std::vector{static_cast<std::int64_t>(address)});
    stream.heap_block.push_back(heap_.number_at(address));
    stream.moves.push_back(moves_);
    if (stream.store) {
      if (is_spill(x)) ++stream.copies;
      store(thread, x, address, access.size);
    } else {
      if (load(x, static_cast<std::uint8_t>(ddg::kFirstMemoryOperand + index), address, access.size)) ++stream.copies;
    }
  }

  void store(const Thread& thread, const Execution& x, std::uint64_t address, std::uint64_t size) {
    memory_.write(address, size, x.self);
    if (!is_spill(x)) return;
    const bool constant = x.form.kind == CopyForm::Kind::kStoredConstant;
    std::vector<Written> stored(size, constant ? made_by(x.self) : Written{});
    if (!constant) {
      const Cells cells = Registers::read_by(x.facts.reads[x.form.data], x.top);
      for (std::size_t i = 0; i < size; ++i)
        stored[i] = copied(x.self, i < cells.size() ? thread.registers[cells[i]] : Written{});
    }
    for (std::uint64_t i = 0; i < size; ++i) {
      stored[i].spill = address;
      memory_.write(address + i, stored[i]);
    }
  }

  /// True if it is a reload.
  bool load(Execution& x, std::uint8_t operand, std::uint64_t address, std::uint64_t size) {
    const std::vector<Byte> bytes = bytes_at(address, size);
    const bool plain = x.form.kind == CopyForm::Kind::kPlainLoad;
    const bool reload = plain && x.form.bitwise && written_by_one_spill(bytes, address);
    consume(x.self, {operand, ddg::Dependence::Kind::kMemory, false, false, reload}, bytes);
    if (!reload) origins_.use(x.self, operand, bytes);
    if (reload)
      for (const Byte& byte : bytes) x.reloaded.push_back(byte.written);
    else if (plain)
      x.loaded = what_is_loaded(bytes, address);
    return reload;
  }

  bool written_by_one_spill(const std::vector<Byte>& bytes, std::uint64_t address) const {
    const auto is_of_it = [&](const Byte& byte) {
      return byte.written.spill == address && history_.same(byte.written.writer, bytes[0].written.writer);
    };
    return std::all_of(bytes.begin(), bytes.end(), is_of_it);
  }

  static std::shared_ptr<const Loaded> what_is_loaded(const std::vector<Byte>& bytes, std::uint64_t address) {
    Loaded loaded{address, {}};
    for (const Byte& byte : bytes) loaded.writers.push_back(byte.written.writer);
    return std::make_shared<const Loaded>(std::move(loaded));
  }

  /// What `self` writes where it copies `from`.
  static Written copied(const Producer& self, const Written& from) { return {self, from.origin, true, 0, from.load}; }

  /// All writes see the registers as they were before.
  void write_registers(Thread& thread, const Execution& x) {
    std::vector<std::pair<std::size_t, Written>> written;
    for (const trace::RegisterUse& use : x.facts.writes) {
      const Cells cells = Registers::written_by(use, x.top);
      for (std::size_t i = 0; i < cells.size(); ++i)
        written.emplace_back(cells[i], written_byte(thread.registers, x, use, i));
    }
    for (const auto& [cell, what] : written) thread.registers.write(cell, what);
    thread.registers.write(Registers::flags(x.facts.flags_written), x.self);
  }

  /// Byte `i` of what the instruction writes to `use`.
  Written written_byte(const Registers& before, const Execution& x, const trace::RegisterUse& use,
                       std::size_t i) const {
    using File = trace::RegisterFile;
    if (use.file == File::kGeneral && use.index == kStackPointer) return {x.self, {}, false, 0, nullptr};
    if (use.file != File::kGeneral && use.file != File::kVector) return made_by(x.self);
    const std::size_t kept =
        use.file == File::kVector ? kept_at(x.facts, static_cast<unsigned>(use.byte + i)) : x.facts.reads.size();
    if (kept != x.facts.reads.size())
      return copied(x.self, before[Registers::kVector + x.facts.reads[kept].index * std::size_t{32} + use.byte + i]);
    if (use.step) return made_by(x.self);
    if (x.form.kind == CopyForm::Kind::kRegisterCopy) {
      const Cells cells = Registers::read_by(x.facts.reads[x.form.data], x.top);
      return copied(x.self, i < cells.size() ? before[cells[i]] : Written{});
    }
    if (!x.reloaded.empty()) return copied(x.self, i < x.reloaded.size() ? x.reloaded[i] : Written{});
    Written written = made_by(x.self);
    written.load = x.loaded;
    return written;
  }

  std::vector<Byte> bytes_at(std::uint64_t address, std::uint64_t size) const {
    std::vector<Byte> bytes;
    for (std::uint64_t i = 0; i < size; ++i)
      bytes.push_back({static_cast<std::uint16_t>(i), memory_.read(address + i)});
    return bytes;
  }

  void value(const Producer& self, const trace::IntegerResult& result, std::uint8_t width, std::uint8_t index,
             std::uint64_t value) {
    const Instance& instance = history_[self.instance];
    Value& stream = graph_.values[{instance.statement, self.instruction, index}];
    stream.reg = result.reg;
    stream.width = width;
    stream.value.dimensions = instance.vector.size();
    stream.value.outputs = 1;
    stream.value.add(instance.vector, std::vector{sign_extended(value, width)});
  }

  // ---- Dependences ----------------------------------------------------------------------------------------------

  /// Cuts an operand into chunks; each is a dependence.
  void consume(const Producer& self, const Operand& operand, const std::vector<Byte>& bytes) {
    std::int64_t chunk = 0;
    consume(self, operand, bytes, chunk);
  }

  /// The same, with chunks numbered from `chunk` on.
  void consume(const Producer& self, const Operand& operand, const std::vector<Byte>& bytes, std::int64_t& chunk) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool starts = i == 0 || !history_.same(bytes[i - 1].written.writer, bytes[i].written.writer);
      if (starts && bytes[i].written.writer.known())
        depend(self, operand, bytes[i].lane, chunk++, bytes[i].written.writer);
    }
  }

  void depend(const Producer& self, const Operand& operand, std::uint16_t lane, std::int64_t chunk,
              const Producer& producer) {
    const Instance& from = history_[producer.instance];
    const Instance& to = history_[self.instance];
    if (operand.kind == ddg::Dependence::Kind::kRegister && history_.same_instance(producer.instance, self.instance)) {
      graph_.statements[to.statement].local.insert(
          {producer.instruction, self.instruction, operand.number, static_cast<std::uint8_t>(lane)});
      return;
    }
    const std::uint16_t stream_lane = operand.chunks ? std::uint16_t{0} : lane;
    Dependence& stream = graph_.dependences[{to.statement, self.instruction, operand.number, stream_lane,
                                             from.statement, producer.instruction, operand.kind, operand.chunks}];
    std::vector<std::int64_t> point = to.vector;
    if (operand.chunks) point.push_back(chunk);
    if (stream.map.count == 0) {
      stream.address = operand.address;
      stream.shared = history_.shared(from.statement, to.statement);
      stream.carried.resize(stream.shared + 1);
      stream.map.dimensions = point.size();
      stream.map.outputs = from.vector.size();
    }
    ++stream.carried[history_.level(producer.instance, self.instance)];
    if (operand.reload) ++stream.reloads;
    count_late(stream, producer.instance, self.instance);
    stream.map.add(point, from.vector);
  }

  void count_late(Dependence& stream, std::uint32_t producer, std::uint32_t consumer) const {
    for (std::size_t i = 0; i < history_[consumer].vector.size(); ++i) {
      if (!history_.late(producer, consumer, i)) continue;
      stream.late.resize(history_[consumer].vector.size());
      ++stream.late[i];
    }
  }

  // ---- Side events ----------------------------------------------------------------------------------------------

  void side(const trace::SideEvent& event) {
    Thread& thread = this->thread(event.thread);
    std::visit([&](const auto& data) { happen(thread, data); }, event.data);
  }

  void happen(Thread&, const trace::Mark&) {}
  void happen(Thread&, const trace::Fork&) {}
  void happen(Thread&, const trace::Exec&) {}

  void happen(Thread& thread, const trace::ThreadStart&) {
    thread.registers.clear();
    thread.stack_pointer.forget();
  }
  void happen(Thread& thread, const trace::ThreadEnd&) { thread.tracker->finish(recording_); }

  void happen(Thread&, const trace::Recording& recording) {
    recording_ = recording.on;
    if (!recording.on) return;
    left_frames_.begins_again = true;
    for (auto& [id, thread] : threads_) {
      thread.tracker->finish(false);
      thread.registers.clear();
      thread.stack_pointer.forget();
      thread.interrupted.clear();
      thread.system_call = kNobody;
    }
    left_frames_.begins_again = false;
  }

  void happen(Thread& thread, const trace::Signal& signal) {
    if (signal.enter) {
      thread.tracker->signal_enter();
      thread.interrupted.push_back({thread.registers, thread.stack_pointer});
      thread.registers.clear();
      thread.stack_pointer.forget();
    } else {
      thread.tracker->signal_return();
      if (thread.interrupted.empty()) return;
      thread.registers = thread.interrupted.back().registers;
      thread.stack_pointer = thread.interrupted.back().stack_pointer;
      thread.interrupted.pop_back();
    }
  }

  void happen(Thread& thread, const trace::Allocation& call) {
    using Function = trace::Allocation::Function;
    const Function f = call.function;
    const bool two = f == Function::kCalloc || f == Function::kRealloc || f == Function::kMemalign;
    const bool returns = f != Function::kFree && f != Function::kDelete;
    const std::uint32_t instance = new_instance_at(thread, Kind::kAllocator, static_cast<std::uint32_t>(f));
    read_arguments(thread, instance, two ? 2 : 1);
    thread.registers.clear_call_clobbered();
    if (returns) thread.registers.write(Registers::general(0), {instance, 0});
    apply(call, heap_, memory_);
    thread.tracker->hidden_code();
  }

  void happen(Thread& thread, const trace::Hidden& hidden) {
    if (hidden.reason == trace::Hidden::Reason::kLibrary) {
      const std::uint32_t instance = new_instance_at(thread, Kind::kHidden, 0);
      read_arguments(thread, instance, 6);
      thread.registers.clear_call_clobbered();
      thread.registers.write(Registers::general(0), {instance, 0});
      thread.registers.write(Registers::general(2), {instance, 0});
      thread.registers.write(Registers::low_vector(0), {instance, 0});
      thread.registers.write(Registers::low_vector(1), {instance, 0});
    }
    thread.tracker->hidden_code();
  }

  /// The registers that the first arguments of a function are in, as operands 0, 1, ...
  void read_arguments(Thread& thread, std::uint32_t instance, std::uint8_t count) {
    static constexpr std::array<unsigned, 6> kArguments = {7, 6, 2, 1, 8, 9};
    if (instance == kNobody) return;
    for (std::uint8_t i = 0; i < count; ++i) {
      const std::vector<Byte> bytes = bytes_in(thread.registers, Registers::general(kArguments[i]));
      consume({instance, 0}, {i, ddg::Dependence::Kind::kRegister}, bytes);
      origins_.use({instance, 0}, i, bytes);
    }
  }

  void happen(Thread& thread, const trace::SyscallEnter& call) {
    thread.system_call = new_instance_at(thread, Kind::kSystemCall, call.number);
    thread.kernel_reads = 0;
    thread.last_operand_chunks = 0;
    if (thread.system_call == kNobody || !ddg::has_outside_effect(call.number)) return;
    consume({thread.system_call, 0}, {ddg::kEnvironmentOperand, ddg::Dependence::Kind::kEnvironment},
            {{0, made_by(environment_)}});
    environment_ = {thread.system_call, 0};
  }

  void happen(Thread& thread, const trace::SyscallReturn&) {
    thread.registers.write(Registers::general(0), {thread.system_call, 0});
    thread.system_call = kNobody;
  }

  void happen(Thread& thread, const trace::KernelAccess& access) {
    const bool in_call = access.cause == trace::KernelAccess::Cause::kSyscall && thread.system_call != kNobody;
    if (access.write) return memory_.write(access.address, access.size, {in_call ? thread.system_call : kNobody, 0});
    if (!in_call) return;
    const std::size_t number = std::min(thread.kernel_reads++, kMostKernelReads);
    const auto operand = static_cast<std::uint8_t>(ddg::kFirstMemoryOperand + number);
    std::int64_t first = 0;
    consume({thread.system_call, 0}, {operand, ddg::Dependence::Kind::kMemory, false, true},
            bytes_at(access.address, access.size), number == kMostKernelReads ? thread.last_operand_chunks : first);
  }

  void happen(Thread&, const trace::Mapping& mapping) {
    using Operation = trace::Mapping::Operation;
    switch (mapping.operation) {
      case Operation::kMap:
      case Operation::kUnmap:
      case Operation::kBreak:
        memory_.clear(mapping.address, mapping.size);
        break;
      case Operation::kRemap:
        ++moves_;
        memory_.move(mapping.old_address, mapping.address, std::min(mapping.size, mapping.old_size));
        break;
      case Operation::kProtect:
        break;
    }
  }

  const trace::Reader& reader_;
  const structure::Structure& structure_;
  std::vector<std::uint8_t> starts_;
  Graph graph_;
  History history_{graph_};
  Memory memory_;
  StackMemory stacks_;
  Origins origins_{graph_, history_, memory_};
  LeftFrames left_frames_;
  Walk walk_;
  std::vector<std::vector<trace::InstructionFacts>> facts_;  // by block
  std::map<trace::ThreadId, Thread> threads_;
  std::map<StatementKey, std::uint32_t> statement_of_;
  std::map<structure::PlaceId, std::vector<std::vector<std::uint8_t>>> code_at_;
  std::map<std::uint64_t, std::map<StatementKey, std::uint32_t>> outside_;  // by stack: since its last event
  Heap heap_;
  Producer environment_;
  bool recording_ = true;
  std::uint64_t moves_ = 0;  // of mappings
  std::uint64_t events_ = 0;
};

}  // namespace

void Points::add(std::span<const std::int64_t> point, std::span<const std::int64_t> labels) {
  data.insert(data.end(), point.begin(), point.end());
  data.insert(data.end(), labels.begin(), labels.end());
  ++count;
}

bool is_steady(const Points& value) {
  if (value.dimensions < 2) return true;
  struct Line {
    std::int64_t at = 0;
    std::int64_t value = 0;
    std::int64_t run = 0;  // and the first point that is elsewhere: how far on, and how much more
    __extension__ __int128 rise = 0;
  };
  std::map<std::vector<std::int64_t>, Line> lines;
  for (std::size_t i = 0; i < value.count; ++i) {
    const std::span<const std::int64_t> point = value.point(i);
    const std::int64_t label = value.labels(i)[0];
    const auto [found, added] = lines.try_emplace({point.begin(), point.end() - 1}, Line{point.back(), label, 0, 0});
    Line& line = found->second;
    if (added) continue;
    const std::int64_t run = point.back() - line.at;
    __extension__ const __int128 rise = static_cast<__int128>(label) - line.value;
    if (run != 0 && line.run == 0) {
      if (rise % run != 0) return false;
      line.run = run;
      line.rise = rise;
    }
    if (run == 0 ? rise != 0 : rise * line.run != line.rise * run) return false;
  }
  return true;
}

Result<Graph> build(const trace::Reader& reader, const structure::Structure& structure) {
  return Builder(reader, structure).run();
}

}  // namespace loopfold::reference
