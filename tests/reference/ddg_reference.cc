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
#include "ddg_reference.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include "ddg/system_calls.h"
#include "ddg_state.h"
#include "structure/loop_walk.h"
#include "trace/decode.h"

namespace loopfold::reference {

namespace {

using Walk = structure::LoopWalk<structure::NoObserver>;
using Tracker = structure::Activations<Walk>;
using Stack = Tracker::Stack;
using Kind = ddg::Statement::Kind;

constexpr std::size_t kMostKernelReads = 100;

/// One instruction at work.
struct Consumer {
  std::uint32_t instance = kNobody;
  std::uint16_t instruction = 0;
};

/// What is known of an operand beside its cells.
struct Operand {
  std::uint8_t number = 0;
  ddg::Dependence::Kind kind = ddg::Dependence::Kind::kRegister;
  bool address = false;
  bool chunks = false;
};

/// One byte or cell of an operand: its lane, and who wrote it.
struct Byte {
  std::uint16_t lane = 0;
  Producer producer;
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
  Registers registers;
  std::vector<Registers> interrupted;    // by signal handlers, innermost last
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
        walk_(structure, graph_.tree, nothing_),
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
    const std::vector<trace::InstructionFacts>& facts = facts_of(block);
    for (std::uint16_t i = 0; i < part.instructions; ++i) {
      const auto in_block = static_cast<std::uint16_t>(part.first_instruction + i);
      ++graph_.instructions;
      describe(instance, i, block, in_block, facts[in_block]);
      execute(thread, {instance, i}, block, in_block, facts[in_block], event, top);
      top = (top + static_cast<unsigned>(facts[in_block].x87_pops)) & 7;
    }
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
    for (const structure::Dimension& dimension : stack.data.dimensions)
      vector.push_back(static_cast<std::int64_t>(dimension.counter));
    const auto [found, added] = statement_of_.try_emplace(key, static_cast<std::uint32_t>(graph_.statements.size()));
    if (added) {
      Statement& statement = graph_.statements.emplace_back();
      statement.key = key;
      statement.domain.dimensions = vector.size();
      if (kind != Kind::kCode) statement.instructions.resize(1);
    }
    graph_.statements[found->second].domain.add(vector, {});
    instances_.push_back({found->second, std::move(vector)});
    return static_cast<std::uint32_t>(instances_.size() - 1);
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
    std::vector<ddg::Instruction>& known = graph_.statements[instances_[instance].statement].instructions;
    if (instruction < known.size()) return;
    std::uint64_t address = block.address;
    for (std::uint16_t i = 0; i < in_block; ++i) address += block.lengths[i];
    known.push_back({address, facts.kinds});
  }

  // ---- Instructions ---------------------------------------------------------------------------------------------

  void execute(Thread& thread, const Consumer& self, const trace::Block& block, std::uint16_t in_block,
               const trace::InstructionFacts& facts, const trace::Event& event, unsigned top) {
    const trace::Exit& exit = reader_.exits()[event.exit];
    const Producer producer{self.instance, self.instruction};
    for (std::size_t i = 0; i < facts.reads.size(); ++i) {
      const Operand operand{static_cast<std::uint8_t>(i), ddg::Dependence::Kind::kRegister, facts.reads[i].address};
      read_register(thread, self, operand, Registers::read_by(facts.reads[i], top));
    }
    read_flags(thread, self, facts.flags_read);
    std::uint8_t index = 0;
    for (std::size_t i = 0; i < exit.accesses; ++i)
      if (block.accesses[i].instruction == in_block && trace::accesses_memory(facts))
        access(self, block.accesses[i], index++, trace::evaluate(block, block.accesses[i].address, event.slots));
    for (const trace::RegisterUse& use : facts.writes)
      thread.registers.write(Registers::written_by(use, top), producer);
    thread.registers.write(Registers::flags(facts.flags_written), producer);
    index = 0;
    for (std::size_t i = 0; i < exit.results; ++i)
      if (block.results[i].instruction == in_block)
        value(self, block.results[i], width_of(block.results[i], facts), index++,
              trace::evaluate(block, block.results[i].value, event.slots));
  }

  void read_register(Thread& thread, const Consumer& self, const Operand& operand, const Cells& cells) {
    std::vector<Byte> bytes;
    for (const std::size_t cell : cells)
      bytes.push_back({static_cast<std::uint16_t>(bytes.size()), thread.registers[cell]});
    consume(self, operand, bytes);
  }

  void read_flags(Thread& thread, const Consumer& self, std::uint8_t set) {
    std::vector<Byte> bytes;
    for (const std::size_t cell : Registers::flags(set))
      bytes.push_back({static_cast<std::uint16_t>(cell - Registers::kFlags), thread.registers[cell]});
    consume(self, {ddg::kFlagsOperand, ddg::Dependence::Kind::kRegister}, bytes);
  }

  void access(const Consumer& self, const trace::Access& access, std::uint8_t index, std::uint64_t address) {
    if (access.guarded && address == 0) return;
    const Instance& instance = instances_[self.instance];
    Access& stream = graph_.accesses[{instance.statement, self.instruction, index}];
    stream.store = access.kind == trace::Access::Kind::kStore;
    stream.guarded = access.guarded;
    stream.size = access.size;
    stream.address.dimensions = instance.vector.size();
    stream.address.outputs = 1;
    stream.address.add(instance.vector, std::vector{static_cast<std::int64_t>(address)});
    stream.heap_block.push_back(heap_.number_at(address));
    stream.moves.push_back(moves_);
    if (stream.store)
      memory_.write(address, access.size, {self.instance, self.instruction});
    else
      consume(self, {static_cast<std::uint8_t>(ddg::kFirstMemoryOperand + index), ddg::Dependence::Kind::kMemory},
              bytes_at(address, access.size));
  }

  std::vector<Byte> bytes_at(std::uint64_t address, std::uint64_t size) const {
    std::vector<Byte> bytes;
    for (std::uint64_t i = 0; i < size; ++i)
      bytes.push_back({static_cast<std::uint16_t>(i), memory_.read(address + i)});
    return bytes;
  }

  void value(const Consumer& self, const trace::IntegerResult& result, std::uint8_t width, std::uint8_t index,
             std::uint64_t value) {
    const Instance& instance = instances_[self.instance];
    Value& stream = graph_.values[{instance.statement, self.instruction, index}];
    stream.reg = result.reg;
    stream.width = width;
    stream.value.dimensions = instance.vector.size();
    stream.value.outputs = 1;
    stream.value.add(instance.vector, std::vector{sign_extended(value, width)});
  }

  // ---- Dependences ----------------------------------------------------------------------------------------------

  bool same(const Producer& a, const Producer& b) const {
    if (!a.known() || !b.known()) return a.known() == b.known();
    if (a.instruction != b.instruction) return false;
    const Instance& x = instances_[a.instance];
    const Instance& y = instances_[b.instance];
    return x.statement == y.statement && x.vector == y.vector;
  }

  /// Cuts an operand into chunks; each is a dependence.
  void consume(const Consumer& self, const Operand& operand, const std::vector<Byte>& bytes) {
    std::int64_t chunk = 0;
    consume(self, operand, bytes, chunk);
  }

  /// The same, with chunks numbered from `chunk` on.
  void consume(const Consumer& self, const Operand& operand, const std::vector<Byte>& bytes, std::int64_t& chunk) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool starts = i == 0 || !same(bytes[i - 1].producer, bytes[i].producer);
      if (starts && bytes[i].producer.known()) depend(self, operand, bytes[i].lane, chunk++, bytes[i].producer);
    }
  }

  void depend(const Consumer& self, const Operand& operand, std::uint16_t lane, std::int64_t chunk,
              const Producer& producer) {
    const Instance& from = instances_[producer.instance];
    const Instance& to = instances_[self.instance];
    const bool same_instance = from.statement == to.statement && from.vector == to.vector;
    if (same_instance && operand.kind == ddg::Dependence::Kind::kRegister) {
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
      stream.shared = shared(from.statement, to.statement);
      stream.carried.resize(stream.shared + 1);
      stream.map.dimensions = point.size();
      stream.map.outputs = from.vector.size();
    }
    std::size_t level = 0;
    while (level < stream.shared && from.vector[level] == to.vector[level]) ++level;
    ++stream.carried[level];
    stream.map.add(point, from.vector);
  }

  /// How many counters belong to contexts that both statements are in.
  std::size_t shared(std::uint32_t a, std::uint32_t b) const {
    const std::vector<structure::ContextId> x = counting_contexts(graph_.statements[a].key.context);
    const std::vector<structure::ContextId> y = counting_contexts(graph_.statements[b].key.context);
    return static_cast<std::size_t>(std::mismatch(x.begin(), x.end(), y.begin(), y.end()).first - x.begin());
  }

  /// Those around `context` and itself that have a counter, outermost first.
  std::vector<structure::ContextId> counting_contexts(structure::ContextId context) const {
    std::vector<structure::ContextId> found;
    for (; context != structure::LoopTree::root(); context = graph_.tree[context].parent)
      if (graph_.tree[context].kind != structure::Context::Kind::kCall) found.push_back(context);
    std::reverse(found.begin(), found.end());
    return found;
  }

  // ---- Side events ----------------------------------------------------------------------------------------------

  void side(const trace::SideEvent& event) {
    Thread& thread = this->thread(event.thread);
    std::visit([&](const auto& data) { happen(thread, data); }, event.data);
  }

  void happen(Thread&, const trace::Mark&) {}
  void happen(Thread&, const trace::Fork&) {}
  void happen(Thread&, const trace::Exec&) {}

  void happen(Thread& thread, const trace::ThreadStart&) { thread.registers.clear(); }
  void happen(Thread& thread, const trace::ThreadEnd&) { thread.tracker->finish(); }

  void happen(Thread&, const trace::Recording& recording) {
    recording_ = recording.on;
    if (!recording.on) return;
    for (auto& [id, thread] : threads_) {
      thread.tracker->finish();
      thread.registers.clear();
      thread.interrupted.clear();
      thread.system_call = kNobody;
    }
  }

  void happen(Thread& thread, const trace::Signal& signal) {
    if (signal.enter) {
      thread.tracker->signal_enter();
      thread.interrupted.push_back(thread.registers);
      thread.registers.clear();
    } else {
      thread.tracker->signal_return();
      if (thread.interrupted.empty()) return;
      thread.registers = thread.interrupted.back();
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
    for (std::uint8_t i = 0; i < count; ++i)
      read_register(thread, {instance, 0}, {i, ddg::Dependence::Kind::kRegister}, Registers::general(kArguments[i]));
  }

  void happen(Thread& thread, const trace::SyscallEnter& call) {
    thread.system_call = new_instance_at(thread, Kind::kSystemCall, call.number);
    thread.kernel_reads = 0;
    thread.last_operand_chunks = 0;
    if (thread.system_call == kNobody || !ddg::has_outside_effect(call.number)) return;
    consume({thread.system_call, 0}, {ddg::kEnvironmentOperand, ddg::Dependence::Kind::kEnvironment},
            {{0, environment_}});
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

  struct Instance {
    std::uint32_t statement = 0;
    std::vector<std::int64_t> vector;
  };

  const trace::Reader& reader_;
  const structure::Structure& structure_;
  std::vector<std::uint8_t> starts_;
  Graph graph_;
  structure::NoObserver nothing_;
  Walk walk_;
  std::vector<std::vector<trace::InstructionFacts>> facts_;  // by block
  std::map<trace::ThreadId, Thread> threads_;
  std::map<StatementKey, std::uint32_t> statement_of_;
  std::map<structure::PlaceId, std::vector<std::vector<std::uint8_t>>> code_at_;
  std::map<std::uint64_t, std::map<StatementKey, std::uint32_t>> outside_;  // by stack: since its last event
  std::vector<Instance> instances_;
  Memory memory_;
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

Result<Graph> build(const trace::Reader& reader, const structure::Structure& structure) {
  return Builder(reader, structure).run();
}

}  // namespace loopfold::reference
