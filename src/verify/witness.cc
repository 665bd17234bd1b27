#include "verify/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace loopfold::verify {

using profile::Blocking;

namespace {

/// Whether distances are among those that it names, if it does.
bool overlap(const Blocking& blocking, std::int64_t least, std::int64_t greatest) {
  if (blocking.distance) return least <= *blocking.distance && *blocking.distance <= greatest;
  return least <= blocking.greatest.value_or(greatest) && blocking.least.value_or(least) <= greatest;
}

}  // namespace

bool Witnesses::is_kind(const Blocking& blocking, const Carried& carried) const {
  switch (blocking.kind) {
    case Blocking::Kind::kControl:
      return carried.kind == Carried::Kind::kControl;
    case Blocking::Kind::kEnvironment:
      return carried.kind == Carried::Kind::kEnvironment;
    case Blocking::Kind::kMemory:
      return carried.kind == Carried::Kind::kMemory ||
             (carried.use != nullptr && carried.use->operand >= kFirstMemory && carried.use->operand < kKernelMemory);
    case Blocking::Kind::kRegister:
      return carried.kind == Carried::Kind::kRegister || carried.kind == Carried::Kind::kTurn;
  }
  return false;
}

/// Between copies of a loop no distance can be told.
bool Witnesses::is_distance(const Blocking& blocking, const Carried& carried) const {
  if (carried.between_copies || carried.kind == Carried::Kind::kTurn || carried.kind == Carried::Kind::kControl)
    return true;
  return overlap(blocking, carried.least, carried.greatest);
}

/// Its line is that of one of the calls, inlined ones included, that led to the allocation.
bool Witnesses::is_allocated_at(const profile::Object& object, trace::StackId id) const {
  if (!object.source || id >= reader_.stacks().size()) return true;
  const auto is_it = [&](std::string_view file, int line) {
    return file == object.source->file && line == object.source->line;
  };
  const trace::CallStack& stack = reader_.stacks()[id];
  return std::any_of(stack.begin(), stack.end(), [&](std::uint64_t address) {
    const symbols::Location& location = symbolizer_.locate(address - 1);
    return is_it(location.file, location.line) ||
           std::any_of(location.frames.begin(), location.frames.end(),
                       [&](const symbols::Frame& frame) { return is_it(frame.file, frame.line); });
  });
}

bool Witnesses::is_frame_of(const profile::Object& object, structure::FunctionId id) const {
  const std::uint64_t entry = structure_.code.address(structure_.flow.functions()[id].entry);
  const std::string& function = symbolizer_.locate(entry).function;
  return object.kind == profile::Object::Kind::kStack &&
         object.name == "frame of " + (function.empty() ? symbolizer_.describe(entry) : function);
}

bool Witnesses::is_object(const profile::Object& object, const TouchedObject& touched) const {
  using Kind = profile::Object::Kind;
  if (touched.heap)
    return object.kind == Kind::kHeap && touched.size <= object.size && is_allocated_at(object, touched.stack);
  if (touched.function != structure::kNoFunction) return is_frame_of(object, touched.function);
  if (const symbols::DataSymbol* const symbol = symbolizer_.data(touched.address))
    return object.kind == Kind::kGlobal && object.name == symbol->name;
  const bool section = object.kind == Kind::kGlobal && object.name.find(" of ") != std::string::npos;
  const bool mapped = object.name.rfind("mmap", 0) == 0 || object.name.rfind("brk", 0) == 0;
  return section || mapped;
}

/// Nothing if it names none.
const profile::Object* Witnesses::object_of(const Blocking& blocking) const {
  if (blocking.kind != Blocking::Kind::kMemory || !blocking.object || *blocking.object >= objects_.size())
    return nullptr;
  const profile::Object& object = objects_[*blocking.object];
  return object.kind == profile::Object::Kind::kUnknown ? nullptr : &object;
}

/// What went through a register here, and through memory there, was spilled to a frame of one of the two.
bool Witnesses::may_be_spill(const Blocking& blocking, NodeIndex from, NodeIndex to) const {
  const profile::Object* const object = object_of(blocking);
  return object == nullptr || is_frame_of(*object, flow_.parts[flow_.nodes[from].part].function) ||
         is_frame_of(*object, flow_.parts[flow_.nodes[to].part].function);
}

bool Witnesses::is_in_object(const Blocking& blocking, const Carried& carried, std::size_t level) const {
  const profile::Object* const object = object_of(blocking);
  if (object == nullptr || carried.between_copies) return true;
  if (carried.edge == nullptr || carried.edge->levels.size() <= level || carried.edge->levels[level].objects.empty())
    return may_be_spill(blocking, carried.from, carried.to);
  const std::vector<TouchedObject>& touched = carried.edge->levels[level].objects;
  return std::any_of(touched.begin(), touched.end(),
                     [&](const TouchedObject& there) { return is_object(*object, there); });
}

std::string Witnesses::object_name(const TouchedObject& touched) const {
  if (touched.heap) {
    if (touched.stack >= reader_.stacks().size()) return "the heap";
    for (const std::uint64_t address : reader_.stacks()[touched.stack]) {
      const symbols::Location& location = symbolizer_.locate(address - 1);
      if (location.file.empty() || location.line == 0) continue;
      return fmt::format("what is allocated at {}", text_of(profile::Source{location.file, location.line}));
    }
    return "the heap";
  }
  if (touched.address == 0) return "";
  const symbols::DataSymbol* symbol = symbolizer_.data(touched.address);
  return symbol != nullptr ? std::string(symbol->name) : "";
}

std::uint64_t Witnesses::count(const Blocking& blocking, const Judge& judge, std::size_t level) const {
  std::uint64_t count = 0;
  for (const Carried& carried : judge.carried()) {
    if (!is_kind(blocking, carried) || !is_distance(blocking, carried)) continue;
    const bool from = names_.source(flow_.nodes[carried.from]) == blocking.source_from;
    const NodeIndex to = carried.kind == Carried::Kind::kControl ? carried.from : carried.to;
    if (!from || names_.source(flow_.nodes[to]) != blocking.source_to) continue;
    if (!is_in_object(blocking, carried, level)) continue;
    count += carried.count;
  }
  return count > 0 ? count : count_others(blocking, judge, level);
}

/// Decisions that lead to an exit by way of others; values that copies of earlier iterations handed on (whether they
/// came in turns depends on what is a copy); copies as producers.
std::uint64_t Witnesses::count_others(const Blocking& blocking, const Judge& judge, std::size_t level) const {
  std::uint64_t count = 0;
  const auto is_at = [&](NodeIndex node, const std::optional<profile::Source>& source) {
    return names_.source(flow_.nodes[node]) == source;
  };
  if (blocking.kind == Blocking::Kind::kControl)
    for (const NodeIndex branch : judge.exits())
      if (is_at(branch, blocking.source_from) && is_at(branch, blocking.source_to)) count += flow_.nodes[branch].count;
  if (blocking.kind == Blocking::Kind::kRegister && !blocking.least && !blocking.distance &&
      blocking.source_from == blocking.source_to) {
    for (const auto& [node, varies_at] : flow_.varied)
      if (varies_at == level && judge.contains(node) && is_at(node, blocking.source_to)) ++count;
    for (const auto& [key, copied] : flow_.copied)
      if (key.level == level && judge.contains(key.from) && flow_.nodes[key.from].copy && judge.contains(key.to) &&
          is_at(key.to, blocking.source_to))
        count += copied.count;
  }
  return count > 0 ? count : count_copies(blocking, judge, level);
}

/// A copy may be named as the producer.
std::uint64_t Witnesses::count_copies(const Blocking& blocking, const Judge& judge, std::size_t level) const {
  if (blocking.kind != Blocking::Kind::kRegister && blocking.kind != Blocking::Kind::kMemory) return 0;
  std::uint64_t count = 0;
  for (const auto& [key, copied] : flow_.copied) {
    if (key.level != level || !judge.contains(key.from) || !judge.contains(key.to)) continue;
    if (!overlap(blocking, copied.least, copied.greatest) || !may_be_spill(blocking, key.from, key.to)) continue;
    if (names_.source(flow_.nodes[key.from]) != blocking.source_from) continue;
    if (names_.source(flow_.nodes[key.to]) == blocking.source_to) count += copied.count;
  }
  return count;
}

}  // namespace loopfold::verify
