// Equal values by origin; see same_value.h.
//
// A comparison walks both operands back at the same time, to a bounded depth: beyond it the answer is no. Every step
// back must stay in the iteration of the loop and of the loops inside it (is_tight), so that one instruction means one
// instance.
#include "poly/same_value.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace loopfold::poly {
namespace {

constexpr std::uint32_t kNotPlain = trace::kStore | trace::kCall | trace::kReturn | trace::kSyscall | trace::kAtomic |
                                    trace::kRepeat | trace::kUnknown | trace::kX87;

bool is_memory(std::uint8_t operand) {
  return operand >= ddg::kFirstMemoryOperand && operand < ddg::kEnvironmentOperand;
}

std::vector<std::uint8_t> address_reads(const trace::InstructionFacts& facts) {
  std::vector<std::uint8_t> found;
  for (std::size_t i = 0; i < facts.reads.size(); ++i)
    if (facts.reads[i].address) found.push_back(static_cast<std::uint8_t>(i));
  return found;
}

/// The sources in the loop, ordered; those from outside left out.
std::vector<Source> of_loop(std::vector<Source> sources) {
  std::erase_if(sources, [](const Source& source) { return !source.in_loop(); });
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.node < b.node; });
  return sources;
}

}  // namespace

SameValue::Value SameValue::resolve(std::uint32_t node, std::uint8_t operand, int depth) const {
  if (is_memory(operand)) {
    const std::optional<std::uint32_t> from = depth == 0 ? std::nullopt : stored_from(node, operand);
    return from ? resolve_result(*from, depth - 1) : Value{Value::Kind::kLoaded, node, operand};
  }
  const std::vector<Source> all = reads_.sources(node, operand);
  const std::vector<Source> sources = of_loop(all);
  if (sources.empty()) return {Value::Kind::kEntry, node, operand};
  const Source& source = sources[0];
  const bool alone = all.size() == 1 && source.carried == 0 && source.before == 0 && source.lane == 0;
  if (!alone || depth == 0 || !reads_.is_tight(source.node, node, operand)) return {Value::Kind::kMixed, node, operand};
  return resolve_result(source.node, depth - 1);
}

/// The instruction that made what a load gets, if it is always the same one, in the same iteration, and a store has put
/// a copy of it, or its own copy, where it is loaded from.
std::optional<std::uint32_t> SameValue::stored_from(std::uint32_t node, std::uint8_t operand) const {
  const std::vector<Source> sources = reads_.sources(node, operand);
  if (sources.size() != 1 || !sources[0].in_loop() || sources[0].lane != 0) return std::nullopt;
  const Source& source = sources[0];
  if (source.carried != 0 || source.before != 0 || source.inside < reads_.count(node)) return std::nullopt;
  if (!reads_.is_tight(source.node, node, operand)) return std::nullopt;
  const std::optional<CodePoint> store = reads_.whole_store(node, operand);
  if (!store) return std::nullopt;
  const trace::InstructionFacts* facts = reads_.facts_at(*store);
  return facts != nullptr && copied_operand(*facts) ? std::optional(source.node) : std::nullopt;
}

SameValue::Value SameValue::resolve_result(std::uint32_t node, int depth) const {
  const trace::InstructionFacts* facts = reads_.node(node).facts;
  if (facts == nullptr) return {Value::Kind::kResult, node, 0};
  const std::optional<std::uint8_t> copied = copied_operand(*facts);
  return copied ? resolve(node, *copied, depth) : Value{Value::Kind::kResult, node, 0};
}

bool SameValue::same(const Value& a, const Value& b, int depth) const {
  if (a.kind != b.kind || depth == 0) return false;
  if (a.node == b.node && a.operand == b.operand) return true;
  switch (a.kind) {
    case Value::Kind::kResult:
      return computed(a.node, b.node, depth - 1);
    case Value::Kind::kLoaded:
      return loaded(a, b, depth - 1);
    case Value::Kind::kEntry:
      return entered(a, b);
    case Value::Kind::kMixed:
      return mixed(a, b);
  }
  return false;
}

/// What lea adds to its registers. A base that is no register is the instruction pointer.
std::int64_t SameValue::displacement(std::uint32_t node) const {
  const trace::InstructionFacts& facts = reads_.facts(node);
  if (!facts.based || !facts.reads.empty()) return facts.displacement;
  const CodePoint& at = reads_.node(node).at;
  const std::uint64_t address = reads_.graph().statements[at.statement].instructions[at.instruction].address;
  return static_cast<std::int64_t>(address + facts.length) + facts.displacement;
}

/// Two instructions that compute the same from the same.
bool SameValue::computed(std::uint32_t a, std::uint32_t b, int depth) const {
  const trace::InstructionFacts* of_a = reads_.node(a).facts;
  const trace::InstructionFacts* of_b = reads_.node(b).facts;
  if (of_a == nullptr || of_b == nullptr) return false;
  if (of_a->form != of_b->form || of_a->constants != of_b->constants) return false;
  if (((of_a->kinds | of_b->kinds) & kNotPlain) != 0 || of_a->flags_read != 0) return false;
  const std::vector<std::uint8_t> reads = data_reads(*of_a);
  if (reads != data_reads(*of_b) || of_a->writes.size() != 1) return false;
  if ((of_a->kinds & trace::kLoad) != 0) {
    constexpr std::uint8_t kOnly = ddg::kFirstMemoryOperand;
    if (!loaded({Value::Kind::kLoaded, a, kOnly}, {Value::Kind::kLoaded, b, kOnly}, depth)) return false;
  } else if (displacement(a) != displacement(b)) {
    return false;
  }
  return std::all_of(reads.begin(), reads.end(), [&](std::uint8_t operand) {
    return same(resolve(a, operand, depth), resolve(b, operand, depth), depth);
  });
}

/// Two loads of the same bytes, not written in between.
bool SameValue::loaded(const Value& a, const Value& b, int depth) const {
  const ddg::Access* of_a = reads_.load(reads_.node(a.node).at, a.operand);
  const ddg::Access* of_b = reads_.load(reads_.node(b.node).at, b.operand);
  if (of_a == nullptr || of_b == nullptr || of_a->size != of_b->size) return false;
  const std::vector<Source> writers_a = of_loop(reads_.sources(a.node, a.operand));
  const std::vector<Source> writers_b = of_loop(reads_.sources(b.node, b.operand));
  if (!alike(writers_a, a, writers_b, b) && !reads_.are_older(a.node, a.operand, b.node, b.operand) &&
      !is_untouched_between(a.node, b.node, of_a->object))
    return false;
  return reads_.same_address(*of_a, *of_b) || addresses(a.node, b.node, depth);
}

/// Both run in one piece of code, without a store to the object in between.
bool SameValue::is_untouched_between(std::uint32_t a, std::uint32_t b, ddg::ObjectId object) const {
  const CodePoint& first = std::min(reads_.node(a).at, reads_.node(b).at);
  const CodePoint& last = std::max(reads_.node(a).at, reads_.node(b).at);
  if (first.statement != last.statement) return false;
  for (CodePoint at = first; at < last; ++at.instruction) {
    const trace::InstructionFacts* facts = reads_.facts_at(at);
    if (facts == nullptr || (facts->kinds & (kNotPlain & ~trace::kStore)) != 0) return false;
    if ((facts->kinds & trace::kStore) == 0) continue;
    const ddg::Access* store = reads_.store(at);
    if (store == nullptr || store->object == object || store->object == ddg::kUnknownObject) return false;
  }
  return true;
}

/// Two memory operands that are written alike, with the same registers in them.
bool SameValue::addresses(std::uint32_t a, std::uint32_t b, int depth) const {
  const trace::InstructionFacts& of_a = reads_.facts(a);
  const trace::InstructionFacts& of_b = reads_.facts(b);
  const std::vector<std::uint8_t> reads_a = address_reads(of_a);
  const std::vector<std::uint8_t> reads_b = address_reads(of_b);
  if (of_a.scale != of_b.scale || of_a.based != of_b.based || of_a.displacement != of_b.displacement) return false;
  if (reads_a.empty() || reads_a.size() != reads_b.size()) return false;
  for (std::size_t i = 0; i < reads_a.size(); ++i)
    if (!same(resolve(a, reads_a[i], depth), resolve(b, reads_b[i], depth), depth)) return false;
  return true;
}

/// Two reads of what was in the same place when the iteration began.
bool SameValue::entered(const Value& a, const Value& b) const {
  const std::optional<std::vector<Place>> of_a = reads_.entries(a.node, a.operand);
  const std::optional<std::vector<Place>> of_b = reads_.entries(b.node, b.operand);
  if (!of_a || !of_b || of_a->size() > 1 || of_a->size() != of_b->size()) return false;
  if (of_a->empty()) return true;
  return reads_.same_place((*of_a)[0], (*of_b)[0]);
}

/// Two reads of one iteration that get values from the same instructions, with none of these in between: what one of
/// them wrote in this iteration, both see or none. One that runs less often may have fewer sources.
bool SameValue::alike(const std::vector<Source>& of_a, const Value& a, const std::vector<Source>& of_b,
                      const Value& b) const {
  if (of_a.size() < of_b.size()) return alike(of_b, b, of_a, a);
  const auto is_tight = [&](const Source& source, const Value& value) {
    return source.inside == 0 || reads_.is_tight(source.node, value.node, value.operand);
  };
  return std::all_of(of_b.begin(), of_b.end(), [&](const Source& y) {
    return std::any_of(of_a.begin(), of_a.end(), [&](const Source& x) {
      const bool as_old = (y.inside == 0 || x.inside != 0) && (y.carried == 0 || x.carried != 0);
      return x.node == y.node && x.lane == y.lane && as_old && is_tight(x, a) && is_tight(y, b);
    });
  });
}

/// What came into the iteration in one place is one value, whatever wrote it: into the iteration of the loop, or of a
/// loop inside it.
bool SameValue::mixed(const Value& a, const Value& b) const {
  if (reads_.came_in_together(a.node, a.operand, b.node, b.operand)) return true;
  const std::vector<Source> of_a = of_loop(reads_.sources(a.node, a.operand));
  const std::vector<Source> of_b = of_loop(reads_.sources(b.node, b.operand));
  return alike(of_a, a, of_b, b) && entered(a, b);
}

bool SameValue::cells(std::uint32_t loading, std::uint8_t operand, std::uint32_t storing) const {
  if (loading == storing) return true;
  const ddg::Access* from = reads_.load(reads_.node(loading).at, operand);
  const ddg::Access* to = reads_.store(reads_.node(storing).at);
  if (from == nullptr || to == nullptr || from->size != to->size) return false;
  return reads_.same_address(*from, *to) || addresses(loading, storing, kDepth);
}

}  // namespace loopfold::poly
