// Uses that are none: what a register happens to have when a function is called, and is saved and restored with it.
//
// A function with a variable number of arguments stores all registers that may have one, and looks at those that do.
// The loader, when a function is called for the first time, saves all that may have arguments, vectors by xsave, and
// restores them. Functions push what they must preserve. So a value that a loop leaves in a register is read behind it,
// whether anybody wants it or not; it is used if something is done with one of the copies.
//
// Sound: what is not a plain copy is a use, and so is what cannot be followed. A copy in memory that nothing loads is
// known to be none only if the whole program was followed.
#include <algorithm>
#include <set>
#include <tuple>

#include "advise/liveness/value_ways.h"
#include "advise/liveness/variables.h"
#include "poly/loop_reads.h"

namespace loopfold::advise::liveness {

namespace {

using Dependence = ddg::Dependence;

bool has_all_vectors(const std::vector<trace::RegisterUse>& uses) {
  constexpr std::ptrdiff_t kVectors = 16;
  return std::count_if(uses.begin(), uses.end(), [](const trace::RegisterUse& use) {
           return use.file == trace::RegisterFile::kVector;
         }) >= kVectors;
}
bool saves_state(const trace::InstructionFacts& facts) {
  return (facts.kinds & trace::kStore) != 0 && has_all_vectors(facts.reads);
}
bool restores_state(const trace::InstructionFacts& facts) {
  return (facts.kinds & trace::kLoad) != 0 && has_all_vectors(facts.writes);
}

}  // namespace

/// All copies of one value.
class ValueWays::Copies {
 public:
  explicit Copies(const ValueWays& all) : all_(all), graph_(all.graph_) {}

  bool are_used(const Dependence& first) {
    constexpr std::size_t kMost = 200;
    if (is_use({first.to, first.to_instruction}, first.operand, first.address)) return true;
    while (!todo_.empty()) {
      const Copy copy = todo_.back();
      todo_.pop_back();
      if (!seen_.insert(copy).second) continue;
      if (seen_.size() > kMost || goes_to_use(copy)) return true;
    }
    return false;
  }

 private:
  /// An instruction that makes one. `reg`: it has more than this, and only what was in that register is of interest.
  struct Copy {
    poly::CodePoint at;
    std::optional<std::uint32_t> reg;
    friend auto operator<=>(const Copy&, const Copy&) = default;
  };

  const trace::InstructionFacts* facts_of(poly::CodePoint at) const {
    const ddg::Statement& statement = graph_.statements[at.statement];
    if (statement.kind != ddg::Statement::Kind::kCode) return nullptr;
    return &(*graph_.facts)[statement.block][statement.first_instruction + at.instruction];
  }

  /// Not a copy; a copy is looked at later.
  bool is_use(poly::CodePoint at, std::uint8_t operand, bool address) {
    const trace::InstructionFacts* const facts = facts_of(at);
    if (facts == nullptr || address) return true;
    if (operand < facts->reads.size() && saves_state(*facts)) {
      todo_.push_back({at, dwarf_number(facts->reads[operand])});
      return !todo_.back().reg;
    }
    if (poly::copied_operand(*facts) != operand) return true;
    todo_.push_back({at, std::nullopt});
    return false;
  }

  bool goes_to_use(const Copy& copy) {
    const trace::InstructionFacts& facts = *facts_of(copy.at);
    const bool stores = (facts.kinds & trace::kStore) != 0;
    bool loaded = false;
    for (const ddg::LocalFlow& local : graph_.statements[copy.at.statement].local) {
      if (local.from != copy.at.instruction) continue;
      const bool memory = local.operand >= ddg::kFirstMemoryOperand && local.operand != ddg::kFlagsOperand;
      if (memory != stores) continue;  // the stack pointer of a push
      loaded = true;
      const poly::CodePoint to{copy.at.statement, local.to};
      const trace::InstructionFacts& reader = *facts_of(to);
      const bool address = local.operand < reader.reads.size() && reader.reads[local.operand].address;
      if (goes_on(copy, stores, to, local.operand, address)) return true;
    }
    for (const std::uint32_t number : all_.from_[copy.at.statement]) {
      const Dependence& dependence = graph_.dependences[number];
      if (dependence.from_instruction != copy.at.instruction) continue;
      if ((dependence.kind == Dependence::Kind::kMemory) != stores) continue;
      loaded = true;
      if (goes_on(copy, stores, {dependence.to, dependence.to_instruction}, dependence.operand, dependence.address))
        return true;
    }
    return stores && !loaded && (copy.reg || !all_.knows_all_);
  }

  /// One reader of a copy.
  bool goes_on(const Copy& copy, bool stored, poly::CodePoint to, std::uint8_t operand, bool address) {
    if (!copy.reg) return is_use(to, operand, address);
    const trace::InstructionFacts* const facts = facts_of(to);
    if (facts == nullptr) return true;
    if (stored) {
      if (!restores_state(*facts)) return true;
      todo_.push_back({to, copy.reg});
      return false;
    }
    if (operand >= facts->reads.size() || dwarf_number(facts->reads[operand]) != copy.reg) return false;
    return is_use(to, operand, address);
  }

  const ValueWays& all_;
  const ddg::Graph& graph_;
  std::vector<Copy> todo_;
  std::set<Copy> seen_;
};

bool ValueWays::is_only_saved(const Dependence& use) const { return !Copies(*this).are_used(use); }

}  // namespace loopfold::advise::liveness
