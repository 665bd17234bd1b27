// What the run did outside of the program's own instructions: allocators, system calls, mappings, signals.
#include <algorithm>
#include <array>
#include <variant>

#include "verify/replay.h"
#include "verify/system_calls.h"

namespace loopfold::verify {

namespace {

using Function = trace::Allocation::Function;

constexpr std::array<std::size_t, 6> kArguments{7, 6, 2, 1, 8, 9};  // rdi, rsi, rdx, rcx, r8, r9
constexpr std::array<std::size_t, 9> kChangedByCalls{0, 1, 2, 6, 7, 8, 9, 10, 11};
constexpr std::array<std::size_t, 1> kResult{0};
constexpr std::array<std::size_t, 2> kResults{0, 2};
constexpr std::uint64_t kLargestFrame = std::uint64_t{64} << 20;

std::size_t arguments_of(Function function) {
  return function == Function::kCalloc || function == Function::kRealloc || function == Function::kMemalign ? 2 : 1;
}

}  // namespace

void Replay::outside(const Place* place, const trace::SideEvent& event) {
  if (!recording_) place = nullptr;
  Thread& thread = this->thread(event.thread);
  if (const auto* a = std::get_if<trace::Allocation>(&event.data)) {
    allocation(place, thread, *a);
  } else if (const auto* h = std::get_if<trace::Hidden>(&event.data)) {
    if (h->reason != trace::Hidden::Reason::kLibrary || place == nullptr) return;
    const NodeIndex node = call_node(*place, Node::Kind::kHidden, 0);
    const Stack& stack = stacks_[place->stack];
    use_arguments(node, stack, thread, kArguments.size());
    forget_call_registers(thread);
    produce(thread, node, stack.iterations.back(), kResults);
  } else if (const auto* call = std::get_if<trace::SyscallEnter>(&event.data)) {
    system_call(place, thread, *call);
  } else if (std::holds_alternative<trace::SyscallReturn>(event.data)) {
    if (thread.call == kNoNodeIndex) return;
    needs_ = thread.call_needs;
    produce(thread, thread.call, thread.call_iteration, kResult);
    thread.call = kNoNodeIndex;
    iterations_.drop(thread.call_iteration);
    thread.call_iteration = kNoIteration;
  } else if (const auto* k = std::get_if<trace::KernelAccess>(&event.data)) {
    kernel_access(thread, *k);
  } else if (const auto* m = std::get_if<trace::Mapping>(&event.data)) {
    using Operation = trace::Mapping::Operation;
    if (m->operation == Operation::kMap || m->operation == Operation::kUnmap) memory_.forget(m->address, m->size);
    if (m->operation == Operation::kRemap && m->address != m->old_address)
      memory_.move(m->old_address, m->address, std::min(m->size, m->old_size));
  } else if (const auto* s = std::get_if<trace::Signal>(&event.data)) {
    signal(thread, *s);
  } else if (std::holds_alternative<trace::ThreadStart>(event.data)) {
    forget_registers(thread);
  } else if (const auto* recording = std::get_if<trace::Recording>(&event.data)) {
    recording_ = recording->on;
    if (!recording->on) return;
    for (auto& [id, other] : threads_) forget_registers(*other);
  }
}

/// A node of its own for each kind of call at each place. What decides it is what decides the code there.
NodeIndex Replay::call_node(const Place& place, Node::Kind kind, std::uint32_t detail) {
  const Stack& stack = follow(place);
  const structure::PlaceId at = structure_.flow.functions()[place.function].places[place.node];
  const PartIndex part =
      part_at({place.context, place.function, place.node, at, kind, detail}, stack.iterations.size());
  ++flow_.parts[part].count;
  decide(part, decisions_.arrive(place.stack, place.depth, {place.function, place.activation}, place.node), stack);
  InstructionCode code;
  code.address = structure_.code.last_instruction(at);
  const NodeIndex node = node_at(part, 0, code);
  flow_.nodes[node].kind = kind;
  ++flow_.nodes[node].count;
  return node;
}

void Replay::use_arguments(NodeIndex node, const Stack& stack, Thread& thread, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    buffer_.clear();
    for (std::size_t byte = 0; byte < 8; ++byte) buffer_.push_back(thread.registers[8 * kArguments[i] + byte]);
    Operand operand;
    operand.number = static_cast<std::uint8_t>(i);
    use(node, stack, operand, buffer_);
  }
}

void Replay::forget_call_registers(Thread& thread) {
  for (const std::size_t reg : kChangedByCalls) {
    thread.is_known[reg] = false;
    for (std::size_t byte = 0; byte < 8; ++byte) cells_.clear(thread.registers[8 * reg + byte]);
  }
  for (std::size_t i = Registers::kVector; i < Registers::kCount; ++i) cells_.clear(thread.registers[i]);
}

void Replay::forget_registers(Thread& thread) {
  for (Cell& cell : thread.registers.all()) cells_.clear(cell);
  thread.is_known.fill(false);
}

void Replay::produce(Thread& thread, NodeIndex node, IterationId now, std::span<const std::size_t> general) {
  Value value;
  value.node = node;
  value.iteration = now;
  value.time = time_;
  value.needs = needs_;
  const ValueId made = values_.make(value);
  for (const std::size_t reg : general) {
    thread.is_known[reg] = false;
    for (std::size_t byte = 0; byte < 8; ++byte) cells_.set(thread.registers[8 * reg + byte], {made, now, now, kNoPath, 0, 0});
  }
  if (general.size() > 1)
    for (std::size_t i = 0; i < 2 * 32; ++i)
      if (i % 32 < 16) cells_.set(thread.registers[Registers::kVector + i], {made, now, now, kNoPath, 0, 0});
  values_.drop(made);
}

void Replay::allocation(const Place* place, Thread& thread, const trace::Allocation& allocation) {
  const bool frees = allocation.function == Function::kFree || allocation.function == Function::kDelete;
  const auto old = blocks_.find(allocation.old_address);
  const std::uint64_t old_size = allocation.old_address == 0 || old == blocks_.end() ? 0 : old->second.size;
  const bool failed = allocation.function == Function::kRealloc && allocation.address == 0 && allocation.size > 0;
  const bool resizes = allocation.function == Function::kRealloc && allocation.address != 0;
  const bool strange = old_size == 0 && allocation.old_address != 0 && allocation.address == allocation.old_address;
  NodeIndex node = kNoNodeIndex;
  if (place != nullptr) {
    node = call_node(*place, Node::Kind::kAllocator, static_cast<std::uint32_t>(allocation.function));
    use_arguments(node, stacks_[place->stack], thread, arguments_of(allocation.function));
  }
  if (!failed) {
    const std::uint64_t kept = resizes ? std::min(old_size, allocation.size) : 0;
    if (old_size != 0) blocks_.erase(allocation.old_address);
    if (kept > 0 && allocation.address != allocation.old_address)
      memory_.move(allocation.old_address, allocation.address, kept);
    if (old_size > kept) memory_.forget(allocation.old_address + kept, old_size - kept);
    if (allocation.address != 0) {
      if (allocation.size > kept && !strange) memory_.forget(allocation.address + kept, allocation.size - kept);
      blocks_[allocation.address] = {allocation.size, allocation.stack};
    }
  }
  if (place == nullptr) return;
  forget_call_registers(thread);
  if (!frees) produce(thread, node, stacks_[place->stack].iterations.back(), kResult);
}

void Replay::system_call(const Place* place, Thread& thread, const trace::SyscallEnter& call) {
  thread.call = kNoNodeIndex;
  iterations_.drop(thread.call_iteration);
  thread.call_iteration = kNoIteration;
  if (place == nullptr) return;
  thread.call = call_node(*place, Node::Kind::kSystemCall, call.number);
  thread.call_stack = place->stack;
  const Stack& stack = stacks_[place->stack];
  thread.call_iteration = stack.iterations.back();
  iterations_.keep(thread.call_iteration);
  thread.call_needs = needs_;
  if (!is_noticed_outside(call.number)) return;
  Operand operand;
  operand.number = kEnvironment;
  if (environment_.value != kNoValue) {
    Use& use = Flow::use(flow_.nodes[thread.call].uses, kEnvironment, 0);
    use_value(thread.call, use, stack, operand, environment_, 0);
  }
  Value value;
  value.node = thread.call;
  value.iteration = thread.call_iteration;
  value.time = time_;
  value.needs = thread.call_needs = needs_;
  const ValueId made = values_.make(value);
  cells_.set(environment_, {made, thread.call_iteration, thread.call_iteration, kNoPath, 0, 0});
  values_.drop(made);
}

void Replay::kernel_access(Thread& thread, const trace::KernelAccess& access) {
  const bool by_call = thread.call != kNoNodeIndex && access.cause == trace::KernelAccess::Cause::kSyscall;
  if (!by_call) {
    if (access.write) memory_.forget(access.address, access.size);
    return;
  }
  if (access.write) {
    Value value;
    value.node = thread.call;
    value.iteration = thread.call_iteration;
    value.time = time_;
    value.needs = thread.call_needs;
    const ValueId made = values_.make(value);
    for (std::uint64_t i = 0; i < access.size; ++i)
      memory_.write(access.address + i, {made, thread.call_iteration, thread.call_iteration, kNoPath, 0, 0});
    values_.drop(made);
    return;
  }
  const Stack& stack = stacks_[thread.call_stack];
  if (stack.iterations.empty()) return;
  Operand operand;
  operand.number = kKernelMemory;
  operand.memory = true;
  operand.at = access.address;
  Use& use = Flow::use(flow_.nodes[thread.call].uses, kKernelMemory, 0);
  use.memory = true;
  needs_ = thread.call_needs;
  ValueId last = kNoValue;
  for (std::uint64_t i = 0; i < access.size; ++i) {
    const Cell cell = memory_.read(access.address + i);
    if (cell.value != kNoValue && cell.value != last)
      use_value(thread.call, use, stack, operand, cell, access.address);
    last = cell.value;
  }
  thread.call_needs = needs_;
}

/// A handler begins with registers that nobody made, and gives back those of before.
void Replay::signal(Thread& thread, const trace::Signal& signal) {
  if (signal.enter) {
    thread.interrupted.push_back(thread.registers);
    thread.registers = {};
    thread.is_known.fill(false);
    return;
  }
  if (thread.interrupted.empty()) return;
  forget_registers(thread);
  thread.registers = thread.interrupted.back();
  thread.interrupted.pop_back();
}

/// The first of the frames that go is about to be left.
void Replay::begin_unwinding(std::uint64_t id) {
  Stack& stack = stacks_[id];
  if (stack.unwinding != kNoNodeIndex) return;
  stack.unwinding = decisions_.current(id).branch;
  stack.unwound_serials = stack.serials;
}

/// Control has come to where it goes on, or the stack has ended: which loops have been left?
void Replay::finish_unwinding(Stack& stack) {
  if (stack.unwinding == kNoNodeIndex) return;
  Unwinding unwinding{stack.unwinding, 0, 1};
  for (std::size_t level = 1; level < stack.unwound_serials.size(); ++level)
    if (level >= stack.serials.size() || stack.serials[level] != stack.unwound_serials[level])
      unwinding.levels |= std::uint64_t{1} << level;
  stack.unwinding = kNoNodeIndex;
  if (unwinding.levels != 0) flow_.unwindings.push_back(unwinding);
}

/// What a frame held is gone.
void Replay::leave_frame(std::uint64_t id, std::uint64_t stack_pointer) {
  if (stack_pointer == ~std::uint64_t{0}) return;
  Stack& stack = stacks_[id];
  const std::uint64_t end = stack_pointer + 8;
  constexpr std::uint64_t kRedZone = 128;
  if (stack.lowest < end && end - stack.lowest < kLargestFrame) {
    const std::uint64_t low = stack.lowest - kRedZone;
    memory_.forget(low, end - low);
  }
  stack.lowest = end;
}

void Replay::end_stack(std::uint64_t id) {
  decisions_.end(id);
  const auto found = stacks_.find(id);
  if (found == stacks_.end()) return;
  found->second.serials.clear();
  finish_unwinding(found->second);
  drop_entries(found->second, 0);
  for (const IterationId iteration : found->second.iterations) iterations_.drop(iteration);
  stacks_.erase(found);
}

}  // namespace loopfold::verify
