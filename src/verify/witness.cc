#include "verify/witness.h"

#include <fmt/format.h>

#include <algorithm>

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

bool Witnesses::is_object(const profile::Object& object, const TouchedObject& touched) const {
  using Kind = profile::Object::Kind;
  if (touched.heap) {
    if (object.kind != Kind::kHeap) return object.kind == Kind::kUnknown;
    if (!object.source || touched.stack >= reader_.stacks().size()) return true;
    const trace::CallStack& stack = reader_.stacks()[touched.stack];
    return std::any_of(stack.begin(), stack.end(), [&](std::uint64_t address) {
      const symbols::Location& location = symbolizer_.locate(address - 1);
      return location.file == object.source->file && location.line == object.source->line;
    });
  }
  const symbols::DataSymbol* symbol = symbolizer_.data(touched.address);
  if (symbol != nullptr) return object.kind == Kind::kGlobal && object.name.find(symbol->name) != std::string::npos;
  const bool mapped = object.name.rfind("mmap", 0) == 0;
  return mapped || (object.kind != Kind::kHeap && object.kind != Kind::kEnvironment);
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
    const bool located = blocking.kind == Blocking::Kind::kMemory && blocking.object &&
                         *blocking.object < objects_.size() && carried.edge != nullptr &&
                         carried.edge->levels.size() > level && !carried.edge->levels[level].objects.empty();
    if (located) {
      const std::vector<TouchedObject>& touched = carried.edge->levels[level].objects;
      if (touched.size() < EdgeLevel::kMostObjects &&
          std::none_of(touched.begin(), touched.end(), [&](const TouchedObject& object) {
            return is_object(objects_[*blocking.object], object);
          }))
        continue;
    }
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
    if (!overlap(blocking, copied.least, copied.greatest)) continue;
    if (names_.source(flow_.nodes[key.from]) != blocking.source_from) continue;
    if (names_.source(flow_.nodes[key.to]) == blocking.source_to) count += copied.count;
  }
  return count;
}

}  // namespace loopfold::verify
