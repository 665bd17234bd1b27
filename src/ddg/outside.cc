// What the run did outside of the program's own instructions: allocators, system calls, mappings, signals.
#include <algorithm>
#include <array>
#include <variant>

#include "ddg/builder.h"
#include "ddg/system_calls.h"

namespace loopfold::ddg {

namespace {

constexpr std::uint32_t kMaxKernelOperands = 100;
constexpr std::uint32_t kOccurrence = 1u << 16;  // counts, above Statement::detail, what happens at one place at once
constexpr std::uint32_t kMaxOccurrences = 1000;
constexpr std::size_t kMaxSaved = 64;

constexpr std::uint8_t kRdi = 7;
constexpr std::uint8_t kRsi = 6;
constexpr std::array<std::uint8_t, 6> kArguments{kRdi, kRsi, 2, 1, 8, 9};

using Function = trace::Allocation::Function;

std::size_t arguments_of(Function function) {
  return function == Function::kCalloc || function == Function::kRealloc || function == Function::kMemalign ? 2 : 1;
}

bool frees(Function function) { return function == Function::kFree || function == Function::kDelete; }

}  // namespace

void Builder::follow(const Where* where, const trace::SideEvent& event) {
  end_trail();
  feed_.set_time(instructions_);
  if (!recording_) where = nullptr;
  if (const auto* a = std::get_if<trace::Allocation>(&event.data)) {
    allocation(where, event.thread, *a);
  } else if (const auto* h = std::get_if<trace::Hidden>(&event.data)) {
    hidden(where, event.thread, *h);
  } else if (const auto* call = std::get_if<trace::SyscallEnter>(&event.data)) {
    system_call(where, event.thread, *call);
  } else if (std::holds_alternative<trace::SyscallReturn>(event.data)) {
    system_call_returns(event.thread);
  } else if (const auto* k = std::get_if<trace::KernelAccess>(&event.data)) {
    kernel_access(event.thread, *k);
  } else if (const auto* m = std::get_if<trace::Mapping>(&event.data)) {
    mapping(*m);
  } else if (const auto* s = std::get_if<trace::Signal>(&event.data)) {
    signal(event.thread, *s);
  } else if (std::holds_alternative<trace::ThreadStart>(event.data)) {
    forget_registers(thread(event.thread));
    thread(event.thread).stack_pointer = 0;
  } else if (const auto* recording = std::get_if<trace::Recording>(&event.data)) {
    recording_ = recording->on;
    if (!recording->on) return;
    if (instructions_ > 0) paused_ = true;
    resumed_at_ = events_;
    for (const std::unique_ptr<ThreadState>& state : threads_) {
      if (!state) continue;
      forget_registers(*state);
      state->saved.clear();
      state->stack_pointer = 0;
    }
  }
}

Builder::Instance Builder::outside(const Where& where, Statement::Kind kind, std::uint32_t detail) {
  const std::uint64_t number = where.origin == structure::Origin::kSignalHandler ? 0 : where.dimensions.front().counter;
  const structure::PlaceId place = structure_.flow.functions()[where.function].places[where.node];
  StackState& stack = this->stack(where.stack);
  if (stack.since_parts != stack.parts) stack.since.clear();
  stack.since_parts = stack.parts;
  SiteId site = 0;
  for (std::uint32_t occurrence = 0; occurrence < kMaxOccurrences; ++occurrence) {
    site = streams_.site({kind, where.context, where.function, where.node, detail + kOccurrence * occurrence, number},
                         place, 1);
    if (std::find(stack.since.begin(), stack.since.end(), site) == stack.since.end()) break;
  }
  stack.since.push_back(site);
  const Instance instance = enter(where, stack, site);
  feed_.instance(site, point_.data());
  return instance;
}

void Builder::read_arguments(const Instance& instance, ThreadState& thread, std::span<const std::uint8_t> registers) {
  for (std::size_t i = 0; i < registers.size(); ++i) {
    std::vector<Granules::Piece> pieces;
    granules_.of_general(registers[i], pieces);
    argument_.clear();
    for (const Granules::Piece& piece : pieces) argument_.push_back({piece.granule, piece.byte});
    Streams::Reader reader;
    reader.site = instance.site;
    reader.operand = static_cast<std::uint8_t>(i);
    reader.dense = static_cast<std::uint32_t>(i);
    read_granules(argument_, 0, false, reader, thread.registers);
    if (options_.origins)
      origins_.use_arguments(tracked(instance), reader.operand, argument_, thread.registers, thread.origins);
  }
}

void Builder::forget_call_registers(ThreadState& thread) {
  for (const LiveOut& out : call_registers_) fill_cells(&thread.registers[out.granule], out.count, {});
  thread.origins.joined.clear();
}

void Builder::produce(ThreadState& thread, const Instance& instance, std::span<const Granules::Piece> granules) {
  const Cell cell{streams_.definition(instance.site, 0), instance.entry, instance.counter};
  for (const Granules::Piece& piece : granules) {
    thread.registers[piece.granule] = cell;
    thread.origins.where[piece.granule] = RegisterOrigins::kWriter;
  }
  thread.origins.joined.clear();
}

void Builder::allocation(const Where* where, trace::ThreadId id, const trace::Allocation& allocation) {
  ThreadState& thread = this->thread(id);
  Instance instance;
  if (where != nullptr) {
    instance = outside(*where, Statement::Kind::kAllocator, static_cast<std::uint32_t>(allocation.function));
    read_arguments(instance, thread, std::span(kArguments).first(arguments_of(allocation.function)));
  }
  objects_.allocation(allocation);
  move_block(allocation);
  if (where == nullptr) return;
  forget_call_registers(thread);
  if (!frees(allocation.function)) produce(thread, instance, result_register_);
}

/// What becomes of the producers in the old block and the new one.
void Builder::move_block(const trace::Allocation& allocation) {
  const auto old = allocation.old_address == 0 ? blocks_.end() : blocks_.find(allocation.old_address);
  const std::uint64_t old_size = old == blocks_.end() ? 0 : old->second;
  const bool failed = allocation.function == Function::kRealloc && allocation.address == 0 && allocation.size > 0;
  if (failed) return;
  if (old == blocks_.end() && allocation.old_address != 0 && allocation.address == allocation.old_address) {
    blocks_[allocation.address] = allocation.size;
    return;
  }
  if (old != blocks_.end()) blocks_.erase(old);
  const std::uint64_t kept =
      allocation.function == Function::kRealloc ? std::min(old_size, allocation.size) : std::uint64_t{0};
  if (kept > 0 && allocation.address != allocation.old_address)
    memory_.move(allocation.old_address, allocation.address, kept);
  if (old_size > kept) memory_.clear(allocation.old_address + kept, old_size - kept);
  if (allocation.address == 0) return;
  if (allocation.size > kept) memory_.clear(allocation.address + kept, allocation.size - kept);
  blocks_[allocation.address] = allocation.size;
}

void Builder::hidden(const Where* where, trace::ThreadId id, const trace::Hidden& hidden) {
  if (hidden.reason != trace::Hidden::Reason::kLibrary) return;
  hidden_library_instructions_ += hidden.instructions;
  if (where == nullptr) return;
  ThreadState& thread = this->thread(id);
  const Instance instance = outside(*where, Statement::Kind::kHidden, 0);
  read_arguments(instance, thread, kArguments);
  forget_call_registers(thread);
  produce(thread, instance, library_results_);
}

void Builder::system_call(const Where* where, trace::ThreadId id, const trace::SyscallEnter& call) {
  ThreadState& thread = this->thread(id);
  thread.in_system_call = where != nullptr;
  if (where == nullptr) return;
  thread.system_call = outside(*where, Statement::Kind::kSystemCall, std::min(call.number, kOccurrence - 1));
  thread.system_call_point = point_;
  thread.system_call_levels = *levels_;
  thread.kernel_reads = 0;
  thread.kernel_chunks = 0;
  if (!has_outside_effect(call.number)) return;
  if (environment_.producer != 0) {
    Streams::Reader reader;
    reader.site = thread.system_call.site;
    reader.operand = kEnvironmentOperand;
    reader.dense = kMaxKernelOperands + 1;
    reader.kind = Dependence::Kind::kEnvironment;
    reader.object = kEnvironmentObject;
    depend(reader, environment_);
  }
  environment_ = {streams_.definition(thread.system_call.site, 0), thread.system_call.entry,
                  thread.system_call.counter};
}

void Builder::system_call_returns(trace::ThreadId id) {
  ThreadState& thread = this->thread(id);
  if (!thread.in_system_call) return;
  thread.in_system_call = false;
  produce(thread, thread.system_call, result_register_);
}

void Builder::kernel_access(trace::ThreadId id, const trace::KernelAccess& access) {
  ThreadState& thread = this->thread(id);
  const bool by_call = thread.in_system_call && access.cause == trace::KernelAccess::Cause::kSyscall;
  if (access.write) {
    if (by_call)
      memory_.write(
          access.address, access.size,
          {streams_.definition(thread.system_call.site, 0), thread.system_call.entry, thread.system_call.counter});
    else
      memory_.clear(access.address, access.size);
    return;
  }
  if (!by_call || access.size == 0) return;
  if (thread.kernel_reads <= kMaxKernelOperands) thread.kernel_chunks = 0;
  const std::uint32_t number = std::min(thread.kernel_reads++, kMaxKernelOperands);
  Streams::Reader reader;
  reader.site = thread.system_call.site;
  reader.operand = static_cast<std::uint8_t>(kFirstMemoryOperand + number);
  reader.dense = number;
  reader.kind = Dependence::Kind::kMemory;
  reader.chunks = true;
  reader.object = objects_.find(access.address).object;
  point_ = thread.system_call_point;
  levels_ = &thread.system_call_levels;
  memory_.read(access.address, access.size, [&](std::uint64_t, std::uint64_t, const Cell& cell) {
    point_.back() = thread.kernel_chunks++;
    depend(reader, cell);
  });
}

void Builder::mapping(const trace::Mapping& mapping) {
  using Operation = trace::Mapping::Operation;
  objects_.mapping(mapping);
  switch (mapping.operation) {
    case Operation::kMap:
    case Operation::kUnmap:
      memory_.clear(mapping.address, mapping.size);
      break;
    case Operation::kRemap: {
      const std::uint64_t kept = std::min(mapping.old_size, mapping.size);
      if (mapping.address != mapping.old_address) memory_.move(mapping.old_address, mapping.address, kept);
      if (mapping.old_size > kept) memory_.clear(mapping.old_address + kept, mapping.old_size - kept);
      if (mapping.size > kept) memory_.clear(mapping.address + kept, mapping.size - kept);
      break;
    }
    case Operation::kProtect:
    case Operation::kBreak:
      break;
  }
}

void Builder::signal(trace::ThreadId id, const trace::Signal& signal) {
  ThreadState& thread = this->thread(id);
  if (signal.enter) {
    if (thread.saved.size() == kMaxSaved) thread.saved.erase(thread.saved.begin());
    thread.saved.push_back({thread.registers, thread.origins, thread.stack_pointer});
    forget_registers(thread);
    thread.stack_pointer = 0;
  } else if (!thread.saved.empty()) {
    thread.registers = std::move(thread.saved.back().registers);
    thread.origins = std::move(thread.saved.back().origins);
    thread.stack_pointer = thread.saved.back().stack_pointer;
    thread.saved.pop_back();
  }
}

}  // namespace loopfold::ddg
