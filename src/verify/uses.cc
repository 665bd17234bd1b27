// Uses of values: who made them, where in the loops that was, and what else later judgement needs to know.
#include <algorithm>

#include "verify/replay.h"

namespace loopfold::verify {

namespace {

std::uint64_t identity_of(const Value& value, std::uint64_t address) {
  return (value.time * 0x9e3779b97f4a7c15u ^ value.node) * 0xff51afd7ed558ccdu ^ address * 0xc4ceb9fe1a85ec53u;
}

}  // namespace

/// Bytes of one value are one use.
void Replay::use(NodeIndex node, const Stack& stack, const Operand& operand, std::span<const Cell> cells) {
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t end = i + 1;
    while (end < cells.size() && cells[end].value == cells[i].value) ++end;
    Use& use = Flow::use(flow_.nodes[node].uses, operand.number, static_cast<std::uint8_t>(std::min<std::size_t>(i, 255)));
    use.address = operand.address;
    use.memory = operand.memory;
    use_value(node, use, stack, operand, cells[i], operand.at + i);
    i = end;
  }
}

void Replay::use_value(NodeIndex node, Use& use, const Stack& stack, const Operand& operand, const Cell& cell,
                       std::uint64_t at) {
  const std::size_t levels = stack.iterations.size();
  if (use.levels.size() < levels) use.levels.resize(levels);
  if (values_[cell.value].kind != Value::Kind::kHanded && operand.only == ~std::uint64_t{0}) {
    add_edge(node, use, stack, operand, cell, cell.value, Edge::kAllLevels);
  } else {
    for (std::size_t level = 1; level < levels; ++level)
      if ((operand.only >> level & 1) != 0)
        add_edge(node, use, stack, operand, cell, values_.at_level(cell.value, level),
                 static_cast<std::uint16_t>(level));
  }
  note_use(use, stack, operand, cell.value, at);
  note_copies(node, stack, cell);
}

/// Who of earlier iterations had a hand in it: who made it, and copies.
void Replay::note_copies(NodeIndex node, const Stack& stack, const Cell& cell) {
  if (!follow_copies_) return;
  const auto note = [&](NodeIndex from, IterationId iteration) {
    const Relation relation = iterations_.relation(iteration, stack.iterations.back());
    if (!relation.carried) return;
    Copied& copied = flow_.copied[{from, node, static_cast<std::uint16_t>(relation.shared - 1)}];
    if (copied.count++ == 0) copied.least = copied.greatest = relation.distance;
    copied.least = std::min(copied.least, relation.distance);
    copied.greatest = std::max(copied.greatest, relation.distance);
  };
  for (PathId id = cell.path; id != kNoPath; id = paths_[id].before) note(paths_[id].node, paths_[id].iteration);
  if (cell.value != kNoValue) note(values_[cell.value].node, values_[cell.value].iteration);
}

void Replay::add_edge(NodeIndex node, Use& use, const Stack& stack, const Operand& operand, const Cell& cell,
                      ValueId id, std::uint16_t only) {
  const IterationId now = stack.iterations.back();
  const Value& value = values_[id];
  const Relation relation = iterations_.relation(value.iteration, now);
  const std::size_t levels = stack.iterations.size();
  const std::uint64_t identity = identity_of(value, operand.memory ? operand.at : 0);
  if (relation.shared < levels) {
    const Relation by = iterations_.relation(cell.by, now);
    const Relation old = iterations_.relation(cell.old, now);
    for (std::size_t level = std::max<std::size_t>(relation.shared, 1); level < levels; ++level)
      if (only == Edge::kAllLevels || only == level) from_outside(node, use.levels[level], level, stack, identity, by, old);
  }
  if (id == kNoValue || relation.shared == 0) return;
  Edge& edge = Flow::edge(use, value.node, only);
  edge.load = value.kind == Value::Kind::kLoaded;
  if (edge.levels.size() < relation.shared) edge.levels.resize(relation.shared);
  if (cell.by != value.iteration || value.node != values_[cell.value].node) edge.behind_copies = true;
  EdgeLevel& level = edge.levels[relation.shared - 1u];
  Instance instance{value.node, value.iteration, node, now, &value, relation, operand.number, only, false, false,
                    value.needs};
  if (relation.carried && edge.load) {
    instance.rewritten = is_rewritten(value);
    const Relation writer = iterations_.relation(values_[value.inner].iteration, now);
    instance.reread = value.inner != kNoValue && writer.shared >= relation.shared;
  }
  if (watch_ != nullptr) needs_ = watch_->both(needs_, told(instance));
  if (!relation.carried) {
    ++level.inside;
    return;
  }
  if (level.carried++ == 0) {
    level.least = level.greatest = relation.distance;
    level.producer = iterations_.vector(value.iteration);
    level.consumer = stack.counters;
  }
  if (operand.memory) note_object(level, stack, operand.at);
  level.least = std::min(level.least, relation.distance);
  level.greatest = std::max(level.greatest, relation.distance);
  level.rewritten += instance.rewritten ? 1 : 0;
  level.reread += instance.reread ? 1 : 0;
}

/// Where an address is: in a block of the heap, in a frame of the stack that uses it, or elsewhere.
TouchedObject Replay::object_at(const Stack& stack, std::uint64_t address) const {
  constexpr std::uint64_t kRedZone = 128;
  constexpr std::uint64_t kAboveFirst = std::uint64_t{64} << 20;  // a frame whose end is not known
  TouchedObject touched{address, false, address, 0, trace::kNoStack, structure::kNoFunction};
  auto block = blocks_.upper_bound(address);
  if (block != blocks_.begin() && address - (--block)->first < block->second.size) {
    touched.heap = true;
    touched.block = block->first;
    touched.size = block->second.size;
    touched.stack = block->second.stack;
    return touched;
  }
  if (address + kRedZone < stack.lowest) return touched;
  for (auto entry = stack.entries.rbegin(); entry != stack.entries.rend(); ++entry) {
    const bool known = entry->pointer != ~std::uint64_t{0};
    if (known ? address >= entry->pointer + 8 : address > stack.lowest + kAboveFirst) continue;
    touched.function = entry->frame.function;
    break;
  }
  return touched;
}

/// Heap blocks of one place of allocation are one object, and so are frames of one function; of all else, whatever is
/// near.
void Replay::note_object(EdgeLevel& level, const Stack& stack, std::uint64_t address) const {
  constexpr std::uint64_t kNear = 64;
  if (level.objects.size() >= EdgeLevel::kMostObjects) return;
  const TouchedObject touched = object_at(stack, address);
  for (const TouchedObject& known : level.objects) {
    if (known.heap != touched.heap || known.function != touched.function) continue;
    if (touched.heap ? known.stack == touched.stack
                     : touched.function != structure::kNoFunction || address - known.address < kNear)
      return;
  }
  level.objects.push_back(touched);
}

void Replay::from_outside(NodeIndex node, UseLevel& at, std::size_t level, const Stack& stack, std::uint64_t identity,
                          const Relation& by, const Relation& old) {
  if (at.has_identity && at.serial == stack.serials[level] && at.identity != identity) {
    if (follow_copies_ && !at.varies) flow_.varied.insert({node, static_cast<std::uint16_t>(level)});
    at.varies = true;
    if (by.carried_at(level) || old.carried_at(level)) ++at.turns;
  }
  at.has_identity = true;
  at.serial = stack.serials[level];
  at.identity = identity;
}

/// How addresses and values of the use develop along each loop.
void Replay::note_use(Use& use, const Stack& stack, const Operand& operand, ValueId id, std::uint64_t at) {
  for (std::size_t level = 1; level < stack.iterations.size(); ++level) {
    UseLevel& l = use.levels[level];
    const std::uint64_t serial = stack.serials[level];
    if (operand.memory) {
      if (l.address_serial == serial && l.address != at) l.moves = true;
      l.address_serial = serial;
      l.address = at;
    }
    const std::span<const std::uint64_t> counters = std::span(stack.counters).subspan(level);
    const Value& value = values_[values_.at_level(id, level)];
    if (value.kind != Value::Kind::kLoaded) l.uneven = true;
    if (!l.uneven) {
      l.loads.add(serial, counters, static_cast<std::int64_t>(value.address));
      l.uneven = !l.loads.even();
    }
    if (operand.value == nullptr)
      l.unknown_values = true;
    else if (!l.unknown_values)
      l.values.add(serial, counters, *operand.value);
  }
}

/// Whether any byte that was loaded has been written since. What was spilled there tells no time; nobody loads that
/// otherwise than by a reload.
bool Replay::is_rewritten(const Value& value) const {
  for (std::uint32_t i = 0; i < value.size; ++i) {
    const Cell cell = memory_.read(value.address + i);
    if (cell.spill == 0 && values_[cell.value].time > value.time) return true;
  }
  return false;
}

}  // namespace loopfold::verify
