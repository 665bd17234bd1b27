#include "poly/flow_index.h"

#include <algorithm>
#include <numeric>

namespace loopfold::poly {

namespace {

using trace::InstructionFacts;
using trace::RegisterFile;
using trace::RegisterUse;

constexpr std::uint8_t kStackPointer = 4;

bool holds_values(RegisterFile file) { return file == RegisterFile::kGeneral || file == RegisterFile::kVector; }

bool is_data(const RegisterUse& read) { return !read.address && !read.merge && !read.step; }

struct Uses {
  int data_reads = 0;
  int writes = 0;  // that are no steps
  bool holding = true;
};

Uses uses_of(const InstructionFacts& facts) {
  Uses uses;
  for (const RegisterUse& read : facts.reads) {
    if (!is_data(read)) continue;
    ++uses.data_reads;
    uses.holding = uses.holding && holds_values(read.file);
  }
  for (const RegisterUse& write : facts.writes) {
    if (write.step) continue;
    ++uses.writes;
    uses.holding = uses.holding && holds_values(write.file);
  }
  return uses;
}

bool is_register_copy(const InstructionFacts& facts, const Uses& uses) {
  return facts.transfer == trace::Transfer::kCopy && (facts.kinds & (trace::kLoad | trace::kStore)) == 0 &&
         uses.data_reads == 1 && uses.writes == 1 && uses.holding;
}

bool is_plain_load(const InstructionFacts& facts, const Uses& uses) {
  constexpr std::uint32_t kOther = trace::kStore | trace::kArithmetic | trace::kRepeat | trace::kAtomic |
                                   trace::kReturn | trace::kCall | trace::kBranch | trace::kConditional;
  return (facts.kinds & trace::kLoad) != 0 && (facts.kinds & kOther) == 0 && facts.flags_read == 0 &&
         uses.data_reads == 0 && uses.writes == 1 && uses.holding;
}

bool is_preserved(const RegisterUse& use) {
  constexpr std::uint32_t kPreserved = 1u << 3 | 1u << 5 | 0xf000u;  // rbx, rbp, r12-r15
  return use.file == RegisterFile::kGeneral && use.width == 8 && (kPreserved >> use.index & 1) != 0;
}

/// The register that a spill saves, if a callee must preserve it; else -1.
int preserved_source(const InstructionFacts& facts) {
  for (const RegisterUse& read : facts.reads)
    if (is_data(read)) return is_preserved(read) ? read.index : -1;
  return -1;
}

/// The register that a load restores, if a callee must preserve it; else -1.
int preserved_target(const InstructionFacts& facts) {
  for (const RegisterUse& write : facts.writes)
    if (!write.step) return is_preserved(write) ? write.index : -1;
  return -1;
}

}  // namespace

Lists::Lists(std::size_t count, std::span<const std::uint32_t> keys) : first_(count + 1) {
  for (const std::uint32_t key : keys)
    if (key != kNone) ++first_[key + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  items_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::uint32_t i = 0; i < keys.size(); ++i)
    if (keys[i] != kNone) items_[next[keys[i]]++] = i;
}

FlowIndex::FlowIndex(const ddg::Graph& graph, const structure::LoopTree& tree) : graph_(graph), tree_(tree) {
  const auto lists = [&](const auto& items, auto key) {
    std::vector<std::uint32_t> keys;
    keys.reserve(items.size());
    for (const auto& item : items) keys.push_back(key(item));
    return Lists(graph.statements.size(), keys);
  };
  dependences_ = lists(graph.dependences, [](const ddg::Dependence& d) { return d.to; });
  origins_ = lists(graph.origins, [](const ddg::Origin& o) { return o.to; });
  accesses_ = lists(graph.accesses, [](const ddg::Access& a) { return a.statement; });
  values_ = lists(graph.values, [](const ddg::Value& v) { return v.statement; });
  number_contexts();
  sort_statements();
  classify();
  find_preserving();
  find_restoring();
}

/// Parents come before their children, so that one pass backwards gives the sizes and one forwards the numbers.
void FlowIndex::number_contexts() {
  const std::size_t count = tree_.contexts().size();
  std::vector<std::uint32_t> size(count, 1);
  instructions_.resize(count);
  for (std::size_t id = count; id-- > 0;) {
    instructions_[id] += tree_.contexts()[id].instructions;
    if (id == structure::LoopTree::root()) continue;
    size[tree_.contexts()[id].parent] += size[id];
    instructions_[tree_.contexts()[id].parent] += instructions_[id];
  }
  first_.assign(count, 0);
  last_.assign(count, 0);
  std::vector<std::uint32_t> next(count);
  for (std::size_t id = 0; id < count; ++id) {
    if (id != structure::LoopTree::root()) {
      std::uint32_t& at = next[tree_.contexts()[id].parent];
      first_[id] = at;
      at += size[id];
    }
    last_[id] = first_[id] + size[id] - 1;
    next[id] = first_[id] + 1;
  }
}

void FlowIndex::sort_statements() {
  order_.resize(graph_.statements.size());
  std::iota(order_.begin(), order_.end(), ddg::StatementId{0});
  const auto number = [&](ddg::StatementId id) { return first_[graph_.statements[id].context]; };
  std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return number(a) < number(b); });
  order_instructions_.push_back(0);
  for (const ddg::StatementId id : order_) {
    const ddg::Statement& statement = graph_.statements[id];
    const bool code = statement.kind == ddg::Statement::Kind::kCode;
    order_number_.push_back(number(id));
    order_instructions_.push_back(order_instructions_.back() +
                                  (code ? statement.count * statement.instructions.size() : 0));
  }
  for (const ddg::Statement& statement : graph_.statements)
    dimensions_.push_back(ddg::dimensions_of(tree_, statement.context));
}

std::span<const ddg::StatementId> FlowIndex::statements_in(structure::ContextId context) const {
  const auto begin = std::lower_bound(order_number_.begin(), order_number_.end(), first_[context]);
  const auto end = std::upper_bound(begin, order_number_.end(), last_[context]);
  return {order_.data() + (begin - order_number_.begin()), static_cast<std::size_t>(end - begin)};
}

std::uint64_t FlowIndex::instructions_in(structure::ContextId context) const { return instructions_[context]; }

std::uint64_t FlowIndex::statement_instructions_in(structure::ContextId context) const {
  const std::span<const ddg::StatementId> statements = statements_in(context);
  const auto begin = static_cast<std::size_t>(statements.data() - order_.data());
  return order_instructions_[begin + statements.size()] - order_instructions_[begin];
}

const InstructionFacts* FlowIndex::facts(CodePoint at) const {
  const ddg::Statement& statement = graph_.statements[at.statement];
  if (statement.kind != ddg::Statement::Kind::kCode || !graph_.facts) return nullptr;
  const std::vector<InstructionFacts>& block = (*graph_.facts)[statement.block];
  const std::size_t number = std::size_t{statement.first_instruction} + at.instruction;
  return number < block.size() ? &block[number] : nullptr;
}

void FlowIndex::classify() {
  std::uint32_t points = 0;
  for (const ddg::Statement& statement : graph_.statements) {
    first_point_.push_back(points);
    points += static_cast<std::uint32_t>(statement.instructions.size());
  }
  passes_.assign(points, Pass::kNone);
  plain_.assign(points, false);
  std::vector<std::uint64_t> accesses(points), copies(points);
  for (const ddg::Access& access : graph_.accesses) {
    accesses[first_point_[access.statement] + access.instruction] += access.address.points;
    copies[first_point_[access.statement] + access.instruction] += access.copies;
  }
  for (const ddg::Statement& statement : graph_.statements) {
    for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
      const InstructionFacts* facts = this->facts({statement.id, i});
      if (facts == nullptr) continue;
      const std::uint32_t point = first_point_[statement.id] + i;
      const Uses uses = uses_of(*facts);
      if (is_register_copy(*facts, uses)) passes_[point] = Pass::kRegisterCopy;
      if ((facts->kinds & trace::kStore) != 0 && accesses[point] > 0 && copies[point] == accesses[point] &&
          uses.data_reads == 1)
        passes_[point] = Pass::kSpill;
      if (!is_plain_load(*facts, uses)) continue;
      passes_[point] = Pass::kLoad;
      plain_[point] = copies[point] < accesses[point] || accesses[point] == 0;
    }
  }
}

/// A register that a callee must preserve, loaded at the end of a function from where the same function spilled it.
void FlowIndex::find_preserving() {
  preserves_.assign(passes_.size(), false);
  for (const ddg::Statement& statement : graph_.statements) {
    if (statement.kind != ddg::Statement::Kind::kCode || statement.instructions.empty()) continue;
    if ((statement.instructions.back().kinds & trace::kReturn) == 0) continue;
    std::vector<bool> refuted(statement.instructions.size());
    std::vector<std::vector<std::uint32_t>> spills(statement.instructions.size());
    for (const std::uint32_t number : dependences_to(statement.id)) {
      const ddg::Dependence& d = graph_.dependences[number];
      const CodePoint to{statement.id, d.to_instruction};
      if (d.kind != ddg::Dependence::Kind::kMemory || pass(to) != Pass::kLoad) continue;
      const bool spill = d.from != ddg::kNoStatement && pass({d.from, d.from_instruction}) == Pass::kSpill &&
                         graph_.statements[d.from].function == statement.function && d.reloads == d.map.points;
      const int saved = spill ? preserved_source(*facts({d.from, d.from_instruction})) : -1;
      if (saved < 0 || saved != preserved_target(*facts(to)))
        refuted[d.to_instruction] = true;
      else
        spills[d.to_instruction].push_back(first_point_[d.from] + d.from_instruction);
    }
    for (std::size_t i = 0; i < refuted.size(); ++i) {
      if (refuted[i] || spills[i].empty()) continue;
      preserves_[first_point_[statement.id] + i] = true;
      for (const std::uint32_t spill : spills[i]) preserves_[spill] = true;
    }
  }
}

namespace {

const RegisterUse* source_of(const InstructionFacts& facts) {
  const auto found = std::find_if(facts.reads.begin(), facts.reads.end(), is_data);
  return found == facts.reads.end() ? nullptr : &*found;
}

const RegisterUse* target_of(const InstructionFacts& facts) {
  const auto found = std::find_if(facts.writes.begin(), facts.writes.end(), [](const auto& w) { return !w.step; });
  return found == facts.writes.end() ? nullptr : &*found;
}

/// Whether the one saves what the other brings back: the same part of the same register.
bool brings_back(const InstructionFacts& saves, const InstructionFacts& restores) {
  const RegisterUse* saved = source_of(saves);
  const RegisterUse* restored = target_of(restores);
  return saved != nullptr && restored != nullptr && saved->file == restored->file && saved->index == restored->index &&
         saved->byte == restored->byte;
}

}  // namespace

/// From a spill of the same register; or, register to register, from a copy of the same register that was made in the
/// same iteration of all loops. Every writer must be one.
void FlowIndex::find_restoring() {
  restores_.assign(passes_.size(), false);
  std::vector<bool> refuted(passes_.size());
  const auto judge = [&](CodePoint from, CodePoint to, bool same) {
    same = same && brings_back(*facts(from), *facts(to));
    (same ? restores_ : refuted)[first_point_[to.statement] + to.instruction] = true;
  };
  const auto moves_back = [&](CodePoint from, CodePoint to) {
    return pass(from) == Pass::kRegisterCopy && source_of(*facts(from))->width == source_of(*facts(to))->width &&
           graph_.statements[from.statement].context == graph_.statements[to.statement].context;
  };
  for (const ddg::Dependence& d : graph_.dependences) {
    const CodePoint from{d.from, d.from_instruction};
    const CodePoint to{d.to, d.to_instruction};
    const bool known = d.from != ddg::kNoStatement;
    if (d.kind == ddg::Dependence::Kind::kMemory && pass(to) == Pass::kLoad && !sometimes_plain(to))
      judge(from, to,
            known && pass(from) == Pass::kSpill &&
                graph_.statements[d.from].function == graph_.statements[d.to].function);
    if (d.kind == ddg::Dependence::Kind::kRegister && pass(to) == Pass::kRegisterCopy &&
        is_passed(*facts(to), d.operand))
      judge(from, to, known && moves_back(from, to) && d.carried.back() == d.map.points);
  }
  for (const ddg::Statement& statement : graph_.statements) {
    for (const ddg::LocalFlow& local : statement.local) {
      const CodePoint from{statement.id, local.from};
      const CodePoint to{statement.id, local.to};
      if (pass(to) == Pass::kRegisterCopy && is_passed(*facts(to), local.operand))
        judge(from, to, moves_back(from, to));
    }
  }
  for (std::size_t point = 0; point < restores_.size(); ++point)
    if (refuted[point]) restores_[point] = false;
}

bool FlowIndex::is_ignored(const InstructionFacts* facts, std::uint8_t operand) {
  if (facts == nullptr || operand >= facts->reads.size()) return false;
  const RegisterUse& read = facts->reads[operand];
  const bool kept = read.merge && (facts->kinds & trace::kLoad) == 0;
  return kept || read.step || (read.file == RegisterFile::kGeneral && read.index == kStackPointer);
}

bool FlowIndex::is_passed(const InstructionFacts& facts, std::uint8_t operand) {
  if (operand >= ddg::kFirstMemoryOperand) return operand < ddg::kEnvironmentOperand;
  return operand < facts.reads.size() && is_data(facts.reads[operand]);
}

}  // namespace loopfold::poly
