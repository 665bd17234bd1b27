#include "verify/replay.h"

#include <algorithm>
#include <limits>

namespace loopfold::verify {

namespace {

constexpr std::uint64_t kRedZone = 128;
constexpr std::uint64_t kAboveFirst = 64 * 1024;  // of a first frame whose entry is not known
constexpr std::uint64_t kUnknownFrame = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMostLevels = 64;
constexpr std::uint8_t kVectorRegister = 64;  // Cell::reg of vector registers counts from here

std::int64_t sign_extended(std::uint64_t value, unsigned bytes) {
  const unsigned unused = 64 - 8 * std::clamp(bytes, 1u, 8u);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

std::uint8_t number_of(const trace::RegisterUse& use) {
  return static_cast<std::uint8_t>(use.file == trace::RegisterFile::kVector ? kVectorRegister + use.index : use.index);
}

bool is_stack_pointer(const trace::RegisterUse& use) {
  return use.file == trace::RegisterFile::kGeneral && use.index == kStackPointer;
}

}  // namespace

Replay::Replay(const trace::Reader& reader, const structure::Structure& structure, BlockTable& code, Flow& flow,
               Watch* watch)
    : reader_(reader),
      structure_(structure),
      code_(code),
      flow_(flow),
      watch_(watch),
      values_(iterations_),
      paths_(iterations_),
      cells_(iterations_, values_, paths_),
      memory_(cells_),
      decisions_(structure, iterations_),
      follow_copies_(flow.copied.empty()) {
  flow_.begin_replay();
}

Replay::~Replay() = default;

Replay::Thread& Replay::thread(trace::ThreadId id) {
  std::unique_ptr<Thread>& thread = threads_[id];
  if (!thread) thread = std::make_unique<Thread>();
  return *thread;
}

// ---- Control ------------------------------------------------------------------------------------------------------

void Replay::begin_event(trace::ExitId exit, const std::uint64_t* slots) {
  exit_ = exit;
  const trace::Exit& e = reader_.exits()[exit];
  event_slots_ = {slots, e.slots};
  top_ = static_cast<unsigned>(trace::evaluate(reader_.blocks()[e.block], reader_.blocks()[e.block].ftop,
                                               event_slots_)) &
         7;
}

/// Brings what is known of the stack's iterations up to date.
Replay::Stack& Replay::follow(const Place& place) {
  Stack& stack = stacks_[place.stack];
  const std::size_t levels = std::min(place.dimensions.size(), kMostLevels);
  std::size_t same = 0;
  while (same < levels && same < stack.iterations.size() && stack.serials[same] == place.dimensions[same].serial &&
         stack.counters[same] == place.dimensions[same].counter)
    ++same;
  while (stack.iterations.size() > same) {
    iterations_.drop(stack.iterations.back());
    stack.iterations.pop_back();
  }
  stack.serials.resize(levels);
  stack.counters.resize(levels);
  for (std::size_t level = same; level < levels; ++level) {
    const structure::Dimension& dimension = place.dimensions[level];
    stack.serials[level] = dimension.serial;
    stack.counters[level] = dimension.counter;
    stack.iterations.push_back(iterations_.make(level == 0 ? kNoIteration : stack.iterations.back(), dimension.serial,
                                                dimension.counter));
  }
  return stack;
}

PartIndex Replay::part_at(const PartKey& key, std::size_t levels) {
  const auto [found, added] = flow_.index.try_emplace(key, static_cast<PartIndex>(flow_.parts.size()));
  if (added) {
    PartNode& part = flow_.parts.emplace_back();
    part.context = key.context;
    part.function = key.function;
    part.node = key.node;
    part.place = key.place;
    part.levels = static_cast<std::uint16_t>(levels);
  }
  return found->second;
}

NodeIndex Replay::node_at(PartIndex part, std::size_t index, const InstructionCode& code) {
  std::vector<NodeIndex>& nodes = flow_.parts[part].nodes;
  if (index < nodes.size()) return nodes[index];
  const auto id = static_cast<NodeIndex>(flow_.nodes.size());
  Node& node = flow_.nodes.emplace_back();
  node.context = flow_.parts[part].context;
  node.part = part;
  node.address = code.address;
  node.facts = code.facts;
  nodes.push_back(id);
  return id;
}

void Replay::run(const Place& place, const structure::Part& part) {
  Stack& stack = follow(place);
  Thread& thread = this->thread(place.thread);
  const trace::Block& block = reader_.blocks()[reader_.exits()[exit_].block];
  const BlockCode& code = code_.of(block);
  const PartIndex index =
      part_at({place.context, place.function, place.node, part.place, Node::Kind::kCode, 0}, stack.iterations.size());
  ++flow_.parts[index].count;
  finish_unwinding(stack);
  note_entry(place, stack, thread);
  decide(index, decisions_.arrive(place.stack, place.depth, {place.function, place.activation}, place.node), stack);
  const std::uint64_t decided = flow_.parts[index].decided;
  NodeIndex last = kNoNodeIndex;
  for (std::size_t i = 0; i < part.instructions; ++i) {
    const InstructionCode& instruction = code.instructions[part.first_instruction + i];
    Execution x{thread,  stack, place, block, instruction, node_at(index, i, instruction), stack.iterations.back(),
                decided, 0,     0};
    last = x.node;
    needs_ = watch_ != nullptr && watch_->runs_anyway(x.node) ? kNoNeeds : decision_needs_;
    ++flow_.nodes[x.node].count;
    move_stack_pointer(x);
    execute(x);
    note_results(x);
    top_ = (top_ + static_cast<unsigned>(instruction.facts->x87_pops)) & 7;
    ++time_;
  }
  if (last != kNoNodeIndex) decisions_.depart(place.stack, last, stack.iterations.back(), needs_);
}

void Replay::decide(PartIndex part, const Decision& decision, const Stack& stack) {
  needs_ = decision_needs_ = kNoNeeds;
  if (decision.branch == kNoNodeIndex) return;
  const Relation relation = iterations_.relation(decision.iteration, stack.iterations.back());
  if (relation.shared == 0) return;
  if (!flow_.parts[part].nodes.empty())
    needs_ = decision_needs_ =
        told({decision.branch, decision.iteration, flow_.parts[part].nodes.front(), stack.iterations.back(), nullptr,
              relation, kControl, Edge::kAllLevels, false, false, decision.needs});
  Use& use = flow_.parts[part].control;
  use.operand = kControl;
  Edge& edge = Flow::edge(use, decision.branch, Edge::kAllLevels);
  if (edge.levels.size() < relation.shared) edge.levels.resize(relation.shared);
  EdgeLevel& level = edge.levels[relation.shared - 1u];
  if (!relation.carried) {
    ++level.inside;
    return;
  }
  if (level.carried++ == 0) {
    level.least = level.greatest = relation.distance;
    level.producer = iterations_.vector(decision.iteration);
    level.consumer = stack.counters;
  }
  level.least = std::min(level.least, relation.distance);
  level.greatest = std::max(level.greatest, relation.distance);
}

// ---- Registers ----------------------------------------------------------------------------------------------------

bool Replay::carries(const trace::RegisterUse& use) const {
  using trace::RegisterFile;
  return use.file == RegisterFile::kGeneral || use.file == RegisterFile::kVector || use.file == RegisterFile::kX87 ||
         use.file == RegisterFile::kMmx;
}

std::size_t Replay::first_cell(const trace::RegisterUse& use) const {
  switch (use.file) {
    case trace::RegisterFile::kGeneral:
      return Registers::kGeneral + 8u * use.index + use.byte;
    case trace::RegisterFile::kVector:
      return Registers::kVector + 32u * use.index + use.byte;
    case trace::RegisterFile::kX87:
      return Registers::kX87 + ((top_ + use.index) & 7);
    default:
      return Registers::kMmx + (use.index & 7u);
  }
}

std::size_t Replay::cells_of(const trace::RegisterUse& use) {
  const bool bytes = use.file == trace::RegisterFile::kGeneral || use.file == trace::RegisterFile::kVector;
  return bytes ? use.width : 1;
}

void Replay::move_stack_pointer(Execution& x) {
  std::uint64_t& value = x.thread.known[kStackPointer];
  bool& known = x.thread.is_known[kStackPointer];
  std::uint64_t low = known ? value : kUnknownFrame;
  for (const std::uint16_t i : x.code.results) {
    const trace::IntegerResult& result = x.block.results[i];
    if (i >= reader_.exits()[exit_].results || result.reg != kStackPointer || result.width != 8) continue;
    value = trace::evaluate(x.block, result.value, event_slots_);
    known = true;
    low = std::min(low, value);
    x.stack.lowest = std::min(x.stack.lowest, value);
  }
  if (low == kUnknownFrame) return;
  x.frame_low = low - kRedZone;
  x.frame_end = x.place.frame != kUnknownFrame ? x.place.frame + 8 : low + kAboveFirst;
}

/// What is known of the values of general registers behind the instruction, and how its result develops.
void Replay::note_results(Execution& x) {
  for (const trace::RegisterUse& write : x.code.facts->writes)
    if (write.file == trace::RegisterFile::kGeneral && write.index != kStackPointer)
      x.thread.is_known[write.index] = false;
  Node& node = flow_.nodes[x.node];
  bool first = true;
  for (const std::uint16_t i : x.code.results) {
    const trace::IntegerResult& result = x.block.results[i];
    if (i >= reader_.exits()[exit_].results || result.reg == kStackPointer) continue;
    const std::uint64_t value = trace::evaluate(x.block, result.value, event_slots_);
    if (result.width >= 4) {
      x.thread.known[result.reg] = value;
      x.thread.is_known[result.reg] = true;
    }
    if (!first) continue;
    first = false;
    unsigned width = result.width;
    for (const trace::RegisterUse& write : x.code.facts->writes)
      if (write.file == trace::RegisterFile::kGeneral && write.index == result.reg && write.zero_extended)
        width = std::min(width, 4u);
    node.has_value = true;
    if (node.values.size() < x.stack.counters.size()) node.values.resize(x.stack.counters.size());
    for (std::size_t level = 1; level < x.stack.counters.size(); ++level)
      node.values[level].add(x.stack.serials[level], std::span(x.stack.counters).subspan(level),
                             sign_extended(value, width));
  }
}

// ---- Instructions -------------------------------------------------------------------------------------------------

std::uint64_t Replay::address_of(const Execution& x, const trace::Access& access) const {
  return trace::evaluate(x.block, access.address, event_slots_);
}

void Replay::execute(Execution& x) {
  using Form = InstructionCode::Form;
  if ((x.code.facts->kinds & (trace::kNop | trace::kMarker)) != 0) return;
  const bool whole = x.code.accesses.empty() || x.code.accesses.back() < reader_.exits()[exit_].accesses;
  if (!whole) return make(x);
  switch (x.code.form) {
    case Form::kRegisterCopy:
      return copy_register(x);
    case Form::kSpill:
    case Form::kConstantSpill:
      if (!spill(x)) make(x);
      return;
    case Form::kLoad:
      return load(x);
    case Form::kMakes:
      return make(x);
  }
}

/// A cell that is copied now: who had a hand in it.
Cell Replay::moved(const Execution& x, Cell cell) const {
  const Relation last = iterations_.relation(cell.by, x.now);
  if (!last.carried || last.shared != iterations_.levels(x.now)) cell.by = x.now;
  if (!iterations_.relation(cell.old, x.now).carried) cell.old = x.now;
  return cell;
}

/// What a copy of a value makes of it at levels at which data decide that it runs: a value of its own.
ValueId Replay::handed(const Execution& x, ValueId value, std::uint64_t levels) {
  Value handed;
  handed.kind = Value::Kind::kHanded;
  handed.node = x.node;
  handed.iteration = x.now;
  handed.time = time_;
  handed.levels = levels;
  handed.needs = needs_;
  handed.inner = value;
  while (values_[handed.inner].kind == Value::Kind::kHanded && (values_[handed.inner].levels & ~levels) == 0)
    handed.inner = values_[handed.inner].inner;
  return values_.make(handed);
}

/// Passes cells on: to(i, cell) is called for each. Bytes of one value stay bytes of one value.
template <class To>
void Replay::pass_on(Execution& x, std::span<const Cell> cells, std::uint64_t levels, const To& to) {
  ValueId made = kNoValue;
  PathId path = kNoPath;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool begins = i == 0 || cells[i].value != cells[i - 1].value || cells[i].path != cells[i - 1].path;
    if (begins && levels != 0) {
      values_.drop(made);
      made = handed(x, cells[i].value, levels);
    }
    if (begins && follow_copies_) {
      paths_.drop(path);
      path = paths_.make(x.node, x.now, cells[i].path);
    }
    Cell cell = moved(x, {levels != 0 ? made : cells[i].value, cells[i].by, cells[i].old, path, 0, 0});
    to(i, cell);
  }
  values_.drop(made);
  paths_.drop(path);
}

void Replay::copy_register(Execution& x) {
  flow_.nodes[x.node].copy = true;
  const trace::RegisterUse& from = *x.code.source;
  const trace::RegisterUse& to = *x.code.target;
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < cells_of(from); ++i) cells.push_back(x.thread.registers[first_cell(from) + i]);
  Operand operand;
  operand.only = x.decided;
  if (x.decided != 0) use(x.node, x.stack, operand, cells);
  if (follow_copies_ && !cells.empty()) note_copies(x.node, x.stack, cells.front());
  put(x, to, is_stack_pointer(to) || is_stack_pointer(from) ? std::span<const Cell>{} : cells, x.decided);
}

/// Into a register; what is not there is zero.
void Replay::put(Execution& x, const trace::RegisterUse& to, std::span<const Cell> cells, std::uint64_t levels) {
  const std::size_t first = first_cell(to);
  const std::size_t count = std::min(cells.size(), cells_of(to));
  pass_on(x, cells.first(count), levels,
          [&](std::size_t i, const Cell& cell) { cells_.set(x.thread.registers[first + i], cell); });
  for (std::size_t i = count; i < cells_of(to); ++i) cells_.clear(x.thread.registers[first + i]);
}

/// Whether it was one.
bool Replay::spill(Execution& x) {
  const trace::Access& access = x.block.accesses[x.code.accesses.front()];
  const std::uint64_t address = address_of(x, access);
  if (!is_own_frame(x, address, access.size)) return false;
  if (x.code.form == InstructionCode::Form::kConstantSpill) {
    Value value;
    value.node = x.node;
    value.iteration = x.now;
    value.time = time_;
    value.needs = needs_;
    const ValueId made = values_.make(value);
    for (std::uint32_t i = 0; i < access.size; ++i)
      memory_.write(address + i, {made, x.now, x.now, kNoPath, static_cast<std::uint8_t>(std::min(i + 1, 255u)), 0xff});
    values_.drop(made);
    return true;
  }
  flow_.nodes[x.node].copy = true;
  const trace::RegisterUse& from = *x.code.source;
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < access.size; ++i)
    cells.push_back(i < cells_of(from) ? x.thread.registers[first_cell(from) + i] : Cell{});
  Operand operand;
  operand.only = x.decided;
  if (x.decided != 0) use(x.node, x.stack, operand, cells);
  if (follow_copies_ && !cells.empty()) note_copies(x.node, x.stack, cells.front());
  pass_on(x, cells, x.decided, [&](std::size_t i, Cell cell) {
    cell.spill = static_cast<std::uint8_t>(std::min<std::size_t>(i + 1, 255));
    cell.reg = number_of(from);
    memory_.write(address + i, cell);
  });
  return true;
}

/// Registers that belong to the caller, at the first instruction of a function.
void Replay::note_entry(const Place& place, Stack& stack, Thread& thread) {
  const FrameId frame{place.function, place.activation};
  if (stack.entries.size() == place.depth && stack.entries.back().frame == frame) return;
  drop_entries(stack, place.depth - 1);
  while (stack.entries.size() < place.depth) {
    Stack::Entry& entry = stack.entries.emplace_back();
    entry.frame = frame;
    entry.pointer = place.frame;
    for (std::size_t i = 0; i < kKept.size(); ++i) {
      entry.values[i] = thread.registers[8u * kKept[i]].value;
      if (entry.values[i] != kNoValue) values_.keep(entry.values[i]);
    }
  }
}

void Replay::drop_entries(Stack& stack, std::size_t depth) {
  while (stack.entries.size() > depth) {
    for (const ValueId value : stack.entries.back().values) values_.drop(value);
    stack.entries.pop_back();
  }
}

/// Whether a register gets back what it held when the function was called. Then the cell is that.
bool Replay::gives_back(const Execution& x, Cell& cell) const {
  const trace::RegisterUse& to = *x.code.target;
  const auto kept = std::find(kKept.begin(), kKept.end(), to.index);
  if (to.file != trace::RegisterFile::kGeneral || kept == kKept.end() || x.stack.entries.empty()) return false;
  const ValueId entry = x.stack.entries.back().values[static_cast<std::size_t>(kept - kKept.begin())];
  if (cell.reg != to.index || values_.at_level(cell.value, 0) != values_.at_level(entry, 0)) return false;
  cell.value = entry;
  return true;
}

void Replay::load(Execution& x) {
  const trace::Access& access = x.block.accesses[x.code.accesses.front()];
  const std::uint64_t address = address_of(x, access);
  const trace::RegisterUse& to = *x.code.target;
  std::vector<Cell> cells;
  bool spilled = x.code.reloads && access.size <= 64;
  for (std::uint32_t i = 0; i < access.size; ++i) {
    cells.push_back(memory_.read(address + i));
    spilled = spilled && cells.back().spill == i + 1;
  }
  if (!spilled) return make(x);
  flow_.nodes[x.node].copy = true;
  std::uint64_t decided = x.decided;
  if (decided != 0 && gives_back(x, cells.front())) {
    decided = 0;
    for (Cell& cell : cells) cell.value = cells.front().value;
  }
  if (decided != 0) {
    Operand operand;
    operand.only = decided;
    operand.number = kFirstMemory;
    use(x.node, x.stack, operand, cells);
  }
  if (follow_copies_) note_copies(x.node, x.stack, cells.front());
  put(x, to, is_stack_pointer(to) ? std::span<const Cell>{} : cells, decided);
}

void Replay::make(Execution& x) {
  const trace::InstructionFacts& facts = *x.code.facts;
  Value value;
  value.node = x.node;
  value.iteration = x.now;
  value.time = time_;
  if (x.code.form == InstructionCode::Form::kLoad) {
    flow_.nodes[x.node].load = true;
    value.kind = Value::Kind::kLoaded;
  }
  sources_.clear();
  read_registers(x);
  if (facts.flags_read != 0) {
    for (unsigned flag = 0; flag < 6; ++flag) {
      if ((facts.flags_read >> flag & 1) == 0) continue;
      Operand operand;
      operand.number = kFlagsOperand;
      const Cell cell = x.thread.registers[Registers::kFlags + flag];
      Use& use = Flow::use(flow_.nodes[x.node].uses, kFlagsOperand, static_cast<std::uint8_t>(flag));
      use_value(x.node, use, x.stack, operand, cell, 0);
    }
  }
  const bool memory = trace::accesses_memory(facts);
  std::uint8_t operand = kFirstMemory;
  for (const std::uint16_t i : x.code.accesses) {
    const trace::Access& access = x.block.accesses[i];
    if (!memory || i >= reader_.exits()[exit_].accesses) break;
    const std::uint64_t address = address_of(x, access);
    const std::uint8_t number = operand < kKernelMemory - 1 ? operand++ : operand;
    if (access.guarded && address == 0) continue;
    if (!x.code.at_frame || !is_own_frame(x, address, access.size)) flow_.nodes[x.node].frame = false;
    if (access.kind != trace::Access::Kind::kLoad) continue;
    read_memory(x, number, address, access.size);
    sources_.insert(sources_.begin(), {address});
    if (value.kind != Value::Kind::kLoaded) continue;
    value.address = address;
    value.size = access.size;
    for (std::uint32_t byte = 0; byte < access.size; ++byte) {
      const ValueId there = memory_.read(address + byte).value;
      if (value.inner == kNoValue || values_[there].time > values_[value.inner].time) value.inner = there;
    }
    while (values_[value.inner].kind == Value::Kind::kHanded || values_[value.inner].kind == Value::Kind::kLoaded)
      value.inner = values_[value.inner].inner;
  }
  merge_sources(value);
  value.needs = needs_;
  const ValueId made = values_.make(value);
  for (const std::uint16_t i : x.code.accesses) {
    const trace::Access& access = x.block.accesses[i];
    if (!memory || i >= reader_.exits()[exit_].accesses) break;
    if (access.kind != trace::Access::Kind::kStore) continue;
    const std::uint64_t address = address_of(x, access);
    if (access.guarded && address == 0) continue;
    note_store(x, address);
    if (std::find(value.sources.begin(), value.sources.end(), address) == value.sources.end())
      flow_.nodes[x.node].displaces = true;
    for (std::uint32_t byte = 0; byte < access.size; ++byte) memory_.write(address + byte, {made, x.now, x.now, kNoPath, 0, 0});
  }
  write_registers(x, made);
  write_flags(x, made);
  values_.drop(made);
}

void Replay::note_store(const Execution& x, std::uint64_t address) {
  std::vector<StoreLevel>& stores = flow_.nodes[x.node].stores;
  if (stores.size() < x.stack.serials.size()) stores.resize(x.stack.serials.size());
  for (std::size_t level = 1; level < x.stack.serials.size(); ++level) {
    StoreLevel& at = stores[level];
    if (at.serial == x.stack.serials[level] && at.address != address) at.moves = true;
    at.serial = x.stack.serials[level];
    at.address = address;
  }
}

/// One of each operand first, then the next ones.
void Replay::merge_sources(Value& value) const {
  std::size_t count = 0;
  for (std::size_t n = 0; n < value.sources.size(); ++n) {
    for (const auto& operand : sources_) {
      const std::uint64_t address = operand[n];
      const bool known = std::find(value.sources.begin(), value.sources.end(), address) != value.sources.end();
      if (!known && count < value.sources.size()) value.sources[count++] = address;
    }
  }
}

void Replay::read_registers(Execution& x) {
  const trace::InstructionFacts& facts = *x.code.facts;
  for (std::size_t i = 0; i < facts.reads.size(); ++i) {
    const trace::RegisterUse& read = facts.reads[i];
    if (!carries(read) || read.merge || read.step || is_stack_pointer(read)) continue;
    buffer_.clear();
    const std::size_t first = first_cell(read);
    for (std::size_t cell = 0; cell < cells_of(read); ++cell) buffer_.push_back(x.thread.registers[first + cell]);
    Operand operand;
    operand.number = static_cast<std::uint8_t>(i);
    operand.address = read.address;
    std::int64_t value = 0;
    if (read.file == trace::RegisterFile::kGeneral && x.thread.is_known[read.index] && read.byte == 0) {
      value = sign_extended(x.thread.known[read.index], read.width);
      operand.value = &value;
    }
    if (!read.address && !buffer_.empty())
      sources_.push_back(values_[values_.at_level(buffer_.front().value, 0)].sources);
    use(x.node, x.stack, operand, buffer_);
  }
}

void Replay::read_memory(Execution& x, std::uint8_t number, std::uint64_t address, std::uint32_t size) {
  buffer_.clear();
  for (std::uint32_t i = 0; i < size; ++i) buffer_.push_back(memory_.read(address + i));
  Operand operand;
  operand.number = number;
  operand.memory = true;
  operand.at = address;
  use(x.node, x.stack, operand, buffer_);
}

/// What an instruction without memory operand keeps of a register's old contents stays what it was.
void Replay::write_registers(Execution& x, ValueId value) {
  const trace::InstructionFacts& facts = *x.code.facts;
  const trace::RegisterUse* merge = nullptr;
  for (const trace::RegisterUse& read : facts.reads)
    if (read.merge && read.file == trace::RegisterFile::kVector && x.code.accesses.empty()) merge = &read;
  std::vector<Cell> kept;
  if (merge != nullptr)
    for (std::size_t i = 0; i < merge->width; ++i) kept.push_back(x.thread.registers[first_cell(*merge) + i]);
  for (const trace::RegisterUse& write : facts.writes) {
    if (!carries(write) || write.step) continue;
    const std::size_t first = first_cell(write);
    for (std::size_t i = 0; i < cells_of(write); ++i) {
      Cell cell{value, x.now, x.now, kNoPath, 0, 0};
      if (is_stack_pointer(write)) cell = {};
      if (merge != nullptr && write.file == trace::RegisterFile::kVector && write.byte + i >= merge->byte &&
          write.byte + i < std::size_t{merge->byte} + merge->width)
        cell = moved(x, kept[write.byte + i - merge->byte]);
      cells_.set(x.thread.registers[first + i], cell);
    }
  }
}

void Replay::write_flags(Execution& x, ValueId value) {
  for (unsigned flag = 0; flag < 6; ++flag)
    if ((x.code.facts->flags_written >> flag & 1) != 0)
      cells_.set(x.thread.registers[Registers::kFlags + flag], {value, x.now, x.now, kNoPath, 0, 0});
}

}  // namespace loopfold::verify
