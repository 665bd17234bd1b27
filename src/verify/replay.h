// Walks the trace once more, instruction by instruction, and follows every value from where it is made to where it is
// used, through registers and memory, byte by byte.
//
// This is `verify`'s own idea of what flows where. It shares the trace, the loops and the decoder with the analysis,
// and nothing else; and it does nothing at once that can be done one by one.
//
// - Copies are transparent: a register move, a spill to a fixed place of the function's own frame, and its reload pass
//   a value on, and whoever computes with it depends on who made it. A copy that runs because data say so makes a
//   choice; in the loops in which data decide (found by Judge, between two replays), the copy makes the value. But a
//   register that gets back what it held when the function was called is what it was.
// - A value that a plain load made knows its address, so that a use in a later iteration can say whether loading it
//   again would give the same.
// - What instructions do to the stack pointer, and to the pointers and counters of string instructions, carries
//   nothing. Frames that were left, freed blocks and fresh ones hold nothing.
// - Allocators, code that was not recorded and system calls are nodes of their own; system calls that the world can
//   notice also read and write the environment.
//
// Cost: some hundred nanoseconds per instruction; memory for 12 bytes per byte that the program wrote.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "structure/loop_walk.h"
#include "structure/structure.h"
#include "trace/reader.h"
#include "verify/code.h"
#include "verify/decisions.h"
#include "verify/flow.h"
#include "verify/shadow.h"

namespace loopfold::verify {

/// One way of a value, as it happens: for checks that need every instance.
struct Instance {
  NodeIndex from = kNoNodeIndex;
  IterationId producer = kNoIteration;
  NodeIndex to = kNoNodeIndex;
  IterationId consumer = kNoIteration;
  const Value* value = nullptr;  // that was used
  Relation relation;
  std::uint8_t operand = 0;
  std::uint16_t level = Edge::kAllLevels;  // that it counts for
  bool rewritten = false;                  // of a loaded value: see EdgeLevel
  bool reread = false;
  NeedsId needs = kNoNeeds;  // of the value or the decision
};

/// Who is told of every instance. What a value needs is what its uses, and the decision that it is made, say.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual NeedsId use(const Instance& instance, const Iterations& iterations) = 0;
  virtual NeedsId both(NeedsId a, NeedsId b) = 0;
  /// Whether it would run in any case, in one place or another.
  virtual bool runs_anyway(NodeIndex node) const = 0;
};

/// What the walk knows of where control is.
struct Place {
  trace::ThreadId thread = 0;
  std::uint64_t stack = 0;
  structure::ContextId context = structure::kNoContext;
  structure::FunctionId function = structure::kNoFunction;
  structure::NodeId node = structure::kNoNode;
  std::uint64_t activation = 0;
  std::size_t depth = 0;  // frames
  std::span<const structure::Dimension> dimensions;
  std::uint64_t frame = ~std::uint64_t{0};  // where the youngest frame's return address is, if known
};

class Replay {
 public:
  static constexpr bool kEveryPart = true;
  static constexpr bool kValues = true;

  /// `flow` is filled; what is decided in it, by earlier replays, counts. `watch` is told of every instance, if given.
  Replay(const trace::Reader& reader, const structure::Structure& structure, BlockTable& code, Flow& flow,
         Watch* watch = nullptr);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  const Iterations& iterations() const { return iterations_; }
  std::uint64_t instructions() const { return time_; }

  // ---- Observer of LoopWalk ---------------------------------------------------------------------------------------

  template <class Walk, class S>
  void event(const Walk&, const S&, trace::ExitId exit, const std::uint64_t* slots) {
    begin_event(exit, slots);
  }
  template <class Walk, class S>
  void part(const Walk& walk, const S& stack, const structure::Part& part) {
    run(place_of(walk.thread(), stack), part);
  }
  template <class Walk, class S>
  void side(const Walk&, const S* stack, const trace::SideEvent& event) {
    if (stack == nullptr || stack->frames.empty()) return outside(nullptr, event);
    const Place place = place_of(event.thread, *stack);
    outside(&place, event);
  }
  template <class Walk, class S>
  void leave(const Walk&, const S& stack) {
    if (stack.leaving == structure::Leaving::kUnwound) begin_unwinding(stack.data.id);
    decisions_.leave(stack.data.id, stack.frames.size());
    drop_entries(stacks_[stack.data.id], stack.frames.size() - 1);
    if (!stack.dropped || stack.origin != structure::Origin::kCoroutine)
      leave_frame(stack.data.id, stack.frames.back().stack_pointer);
  }
  template <class Walk, class S>
  void end(const Walk&, const S& stack) {
    end_stack(stack.data.id);
  }

 private:
  static constexpr std::array<std::uint8_t, 6> kKept{3, 5, 12, 13, 14, 15};  // rbx, rbp, r12-r15

  struct HeapBlock {
    std::uint64_t size = 0;
    trace::StackId stack = trace::kNoStack;
  };
  struct Thread {
    Registers registers;
    std::array<std::uint64_t, 16> known{};  // values of general registers
    std::array<bool, 16> is_known{};
    std::vector<Registers> interrupted;  // by signal handlers
    NodeIndex call = kNoNodeIndex;       // system call that is going on
    IterationId call_iteration = kNoIteration;
    NeedsId call_needs = kNoNeeds;
    PartIndex call_part = 0;
    std::uint64_t call_stack = 0;
  };
  struct Stack {
    std::vector<IterationId> iterations;  // by level: where control is
    std::vector<std::uint64_t> serials;
    std::vector<std::uint64_t> counters;
    /// What the registers that belong to the caller held when a function was called, by frame.
    struct Entry {
      FrameId frame;
      std::uint64_t pointer = 0;  // where its return address is, if known
      std::array<ValueId, kKept.size()> values{};
    };
    std::vector<Entry> entries;
    std::uint64_t lowest = ~std::uint64_t{0};  // stack pointer since a frame was left
    // Frames are being left, not by returning:
    NodeIndex unwinding = kNoNodeIndex;          // the branch that decided it
    std::vector<std::uint64_t> unwound_serials;  // entries of loops that were live then
  };
  /// An instruction that runs.
  struct Execution {
    Thread& thread;
    Stack& stack;
    const Place& place;
    const trace::Block& block;
    const InstructionCode& code;
    NodeIndex node = kNoNodeIndex;
    IterationId now = kNoIteration;
    std::uint64_t decided = 0;   // levels
    std::uint64_t frame_low = 0;  // bytes that are its function's own
    std::uint64_t frame_end = 0;
  };

  template <class S>
  static Place place_of(trace::ThreadId thread, const S& stack) {
    const auto& frame = stack.frames.back();
    return {thread,
            stack.data.id,
            stack.data.context,
            frame.data.function,
            frame.data.current,
            frame.data.activation,
            stack.frames.size(),
            stack.data.dimensions,
            frame.stack_pointer};
  }

  void begin_event(trace::ExitId exit, const std::uint64_t* slots);
  void run(const Place& place, const structure::Part& part);
  Stack& follow(const Place& place);
  PartIndex part_at(const PartKey& key, std::size_t levels);
  NodeIndex node_at(PartIndex part, std::size_t index, const InstructionCode& code);
  void decide(PartIndex part, const Decision& decision, const Stack& stack);
  NeedsId told(const Instance& instance) { return watch_ == nullptr ? kNoNeeds : watch_->use(instance, iterations_); }

  // Instructions.
  void execute(Execution& x);
  void copy_register(Execution& x);
  bool spill(Execution& x);
  void load(Execution& x);
  void make(Execution& x);
  void read_registers(Execution& x);
  void merge_sources(Value& value) const;
  void read_memory(Execution& x, std::uint8_t operand, std::uint64_t address, std::uint32_t size);
  void write_registers(Execution& x, ValueId value);
  void write_flags(Execution& x, ValueId value);
  void note_store(const Execution& x, std::uint64_t address);
  void note_results(Execution& x);
  void move_stack_pointer(Execution& x);
  bool is_own_frame(const Execution& x, std::uint64_t address, std::uint64_t size) const {
    return address >= x.frame_low && address + size <= x.frame_end;
  }
  std::uint64_t address_of(const Execution& x, const trace::Access& access) const;
  Cell moved(const Execution& x, Cell cell) const;
  ValueId handed(const Execution& x, ValueId value, std::uint64_t levels);
  template <class To>
  void pass_on(Execution& x, std::span<const Cell> cells, std::uint64_t levels, const To& to);
  void put(Execution& x, const trace::RegisterUse& to, std::span<const Cell> cells, std::uint64_t levels);
  std::size_t first_cell(const trace::RegisterUse& use) const;
  static std::size_t cells_of(const trace::RegisterUse& use);
  bool carries(const trace::RegisterUse& use) const;

  // Uses.
  struct Operand {
    std::uint8_t number = 0;
    bool address = false;
    bool memory = false;
    std::uint64_t at = 0;     // memory
    const std::int64_t* value = nullptr;
    std::uint64_t only = ~std::uint64_t{0};  // levels that it counts for
  };
  void use(NodeIndex node, const Stack& stack, const Operand& operand, std::span<const Cell> cells);
  void use_value(NodeIndex node, Use& use, const Stack& stack, const Operand& operand, const Cell& cell,
                 std::uint64_t at);
  void add_edge(NodeIndex node, Use& use, const Stack& stack, const Operand& operand, const Cell& cell,
                ValueId value, std::uint16_t level);
  void from_outside(NodeIndex node, UseLevel& at, std::size_t level, const Stack& stack, std::uint64_t identity, const Relation& by,
                    const Relation& old);
  void note_use(Use& use, const Stack& stack, const Operand& operand, ValueId value, std::uint64_t at);
  void note_copies(NodeIndex node, const Stack& stack, const Cell& cell);
  void note_object(EdgeLevel& level, const Stack& stack, std::uint64_t address) const;
  TouchedObject object_at(const Stack& stack, std::uint64_t address) const;
  bool is_rewritten(const Value& value) const;

  // outside.cc: what the run did outside of the program's own instructions.
  void outside(const Place* place, const trace::SideEvent& event);
  NodeIndex call_node(const Place& place, Node::Kind kind, std::uint32_t detail);
  void use_arguments(NodeIndex node, const Stack& stack, Thread& thread, std::size_t count);
  void forget_call_registers(Thread& thread);
  void forget_registers(Thread& thread);
  void produce(Thread& thread, NodeIndex node, IterationId now, std::span<const std::size_t> general);
  void allocation(const Place* place, Thread& thread, const trace::Allocation& allocation);
  void system_call(const Place* place, Thread& thread, const trace::SyscallEnter& call);
  void kernel_access(Thread& thread, const trace::KernelAccess& access);
  void signal(Thread& thread, const trace::Signal& signal);
  void begin_unwinding(std::uint64_t stack);
  void finish_unwinding(Stack& stack);
  void note_entry(const Place& place, Stack& stack, Thread& thread);
  void drop_entries(Stack& stack, std::size_t depth);
  bool gives_back(const Execution& x, Cell& cell) const;
  void leave_frame(std::uint64_t stack, std::uint64_t stack_pointer);
  void end_stack(std::uint64_t stack);

  Thread& thread(trace::ThreadId id);

  const trace::Reader& reader_;
  const structure::Structure& structure_;
  BlockTable& code_;
  Flow& flow_;
  Watch* watch_;
  Iterations iterations_;
  Values values_;
  Paths paths_;
  Cells cells_;
  Memory memory_;
  Decisions decisions_;
  std::map<trace::ThreadId, std::unique_ptr<Thread>> threads_;
  std::unordered_map<std::uint64_t, Stack> stacks_;
  std::map<std::uint64_t, HeapBlock> blocks_;  // by address
  Cell environment_;
  bool recording_ = true;
  bool follow_copies_ = false;  // one replay is enough for what was copied
  std::uint64_t time_ = 0;  // instructions so far
  NeedsId decision_needs_ = kNoNeeds;  // of what decided what runs,
  NeedsId needs_ = kNoNeeds;           // with those of what was used of it so far
  trace::ExitId exit_ = 0;
  std::span<const std::uint64_t> event_slots_;
  unsigned top_ = 0;  // of the x87 registers
  std::vector<Cell> buffer_;
  std::vector<std::array<std::uint64_t, 8>> sources_;  // of the operands of what runs
};

}  // namespace loopfold::verify
