// Ways of a variable that is no memory, by what the debug information says of it: where it is in which register, where
// it is a constant, and where it is computed from registers.
//
// What sets it in the loop:
// - An instruction behind which it is in the register that is written.
// - The debug information often has it there only some instructions later. So what an instruction reads from the
//   variable's register is its value, too, and whatever made that in the same iteration has set it. If something of it
//   comes from another iteration, the register is a counter's, or that of a variable that shares it: this does not
//   count.
// - If neither is found: it is a constant from some place of the loop on, but not in all of it, or is computed from
//   registers that the iteration has set. Nothing is known then of where its value goes; an iteration of the source
//   sets it, and what is computed for it is not handed to another one.
//
// A copy from where the variable has been all the time (a register that is saved around a call, say) does not set it.
// If there are only such copies in the loop, the variable comes from before, and stays.
#include <algorithm>
#include <map>
#include <set>

#include "advise/liveness/value_ways.h"
#include "advise/liveness/variables.h"
#include "poly/loop_reads.h"

namespace loopfold::advise::liveness {

namespace {

using Dependence = ddg::Dependence;
using Value = symbols::LocalVariable::Value;

/// Its value, not as part of an address.
bool reads(const trace::InstructionFacts& instruction, std::uint32_t reg) {
  return std::any_of(instruction.reads.begin(), instruction.reads.end(),
                     [&](const trace::RegisterUse& use) { return !use.address && dwarf_number(use) == reg; });
}

bool holds(const symbols::CodeRange& code, std::uint64_t address) {
  return code.start <= address && address < code.end;
}

}  // namespace

class ValueWays::OfRegister {
 public:
  OfRegister(const ValueWays& all, const symbols::LocalVariable& variable, const Inside& inside,
             const poly::FlowOfLoop& loop, const poly::RegionFlow& flow)
      : all_(all), graph_(all.graph_), variable_(variable), inside_(inside), loop_(loop), flow_(flow) {
    const structure::FunctionId function = all.tree_[loop.loop.loops.front()].function;
    for (const ddg::StatementId id : inside.statements) {
      const ddg::Statement& statement = graph_.statements[id];
      if (statement.kind == ddg::Statement::Kind::kCode && statement.function == function) code_.push_back(id);
    }
  }

  Ways run() {
    if (!variable_.places.empty()) {
      for (const ddg::StatementId id : code_) for_each(id, [&](poly::CodePoint at) { find_writes(at); });
      ways_.only_used = !ways_.defined;
      for (const ddg::StatementId id : code_) find_uses(id);
      if (!ways_.only_used || !carried_use_)
        for (const poly::CodePoint at : used_) add(at);
    }
    const bool stays = ways_.defined && (only_moved_ || is_always_same());
    if (stays) ways_ = Ways();
    find_steps();
    if (!ways_.defined && !stays) find_values();
    return std::move(ways_);
  }

 private:
  template <typename Visit>
  void for_each(ddg::StatementId id, Visit&& visit) const {
    for (std::uint16_t i = 0; i < graph_.statements[id].instructions.size(); ++i) visit(poly::CodePoint{id, i});
  }
  /// Whether there is such an instruction in the loop's own function.
  template <typename Is>
  bool has_instruction(Is&& is) const {
    return std::any_of(code_.begin(), code_.end(), [&](ddg::StatementId id) {
      const std::vector<ddg::Instruction>& all = graph_.statements[id].instructions;
      return std::any_of(all.begin(), all.end(), is);
    });
  }
  std::uint64_t address_of(poly::CodePoint at) const {
    return graph_.statements[at.statement].instructions[at.instruction].address;
  }
  const trace::InstructionFacts& facts_of(poly::CodePoint at) const {
    const ddg::Statement& statement = graph_.statements[at.statement];
    return (*graph_.facts)[statement.block][statement.first_instruction + at.instruction];
  }
  bool sets(poly::CodePoint at) const { return std::find(ways_.set.begin(), ways_.set.end(), at) != ways_.set.end(); }

  // ---- in registers ----

  void find_writes(poly::CodePoint at) {
    const trace::InstructionFacts& facts = facts_of(at);
    const std::uint64_t address = address_of(at);
    for (const trace::RegisterUse& write : facts.writes) {
      const std::optional<std::uint32_t> reg = dwarf_number(write);
      if (!reg || write.step) continue;
      // Debug information may have a gap behind an instruction that changes the variable.
      const bool changes = is_in_register(variable_, address, *reg) && reads(facts, *reg);
      if (changes || is_in_register(variable_, address + facts.length, *reg)) add(at);
    }
  }

  /// An operand that is one of some registers, by DWARF's number.
  template <typename Has>
  bool reads_register(poly::CodePoint at, std::uint8_t operand, Has&& has) const {
    const trace::InstructionFacts& facts = facts_of(at);
    if (operand >= facts.reads.size()) return false;
    const std::optional<std::uint32_t> reg = dwarf_number(facts.reads[operand]);
    return reg && has(*reg);
  }

  void find_uses(ddg::StatementId id) {
    const auto is_of_variable = [&](poly::CodePoint at, std::uint8_t operand) {
      return reads_register(at, operand,
                            [&](std::uint32_t reg) { return is_in_register(variable_, address_of(at), reg); });
    };
    for (const ddg::LocalFlow& local : graph_.statements[id].local)
      if (is_of_variable({id, local.to}, local.operand)) add_used({id, local.from});
    for_each(id, [&](poly::CodePoint at) {
      for (const Dependence& dependence : all_.into(id, at.instruction)) {
        if (dependence.kind != Dependence::Kind::kRegister || dependence.from == ddg::kNoStatement) continue;
        if (!is_of_variable(at, dependence.operand)) continue;
        const Counts counts = all_.counts_of(dependence, inside_);
        if (counts.before > 0) ways_.from_before = true;
        if (counts.carried > 0) carried_use_ = true;
        if (counts.within > 0 && counts.carried == 0 && counts.before == 0)
          add_used({dependence.from, dependence.from_instruction});
      }
    });
  }

  /// What made a value that the variable has later. A reload of what was there before the loop has not set it.
  void add_used(poly::CodePoint at) {
    if (std::binary_search(code_.begin(), code_.end(), at.statement) && !sets(at) && !is_from_before(at))
      used_.insert(at);
  }

  void add(poly::CodePoint at) {
    if (sets(at)) return;
    if (!ways_.defined) {
      ways_.at = address_of(at);
      only_moved_ = true;
    }
    ways_.defined = true;
    only_moved_ = only_moved_ && is_moved(at);
    ways_.set.push_back(at);
    if (loop_.tests.contains(at)) ways_.carried = ways_.counter = true;
    all_.add_uses(at.statement, at.instruction, inside_, false, ways_);
    for (const std::uint32_t number : all_.from_[at.statement]) {
      const Dependence& dependence = graph_.dependences[number];
      if (dependence.from_instruction != at.instruction || dependence.kind != Dependence::Kind::kRegister) continue;
      if (all_.counts_of(dependence, inside_).carried == 0) continue;
      if (!flow_.is_index(at))
        ways_.carried = true;
      else
        handed_.push_back(&dependence);
    }
  }

  /// A copy of the variable from where it was until then.
  bool is_moved(poly::CodePoint at) const {
    const trace::InstructionFacts& facts = facts_of(at);
    const std::uint64_t address = address_of(at);
    const std::optional<std::uint8_t> operand = poly::copied_operand(facts);
    if (!operand) return false;
    if (*operand < facts.reads.size()) {
      const std::optional<std::uint32_t> reg = dwarf_number(facts.reads[*operand]);
      return reg && is_in_register(variable_, address, *reg);
    }
    if (*operand < ddg::kFirstMemoryOperand) return false;
    const auto is_here = [&](const symbols::CodeRange& code) { return holds(code, address); };
    return std::any_of(variable_.somewhere.begin(), variable_.somewhere.end(), is_here) ||
           std::any_of(variable_.places.begin(), variable_.places.end(),
                       [&](const auto& place) { return !place.in_register && is_here(place.code); });
  }

  /// A copy of a register, or of a place in a frame, that nothing in the loop has set.
  bool is_from_before(poly::CodePoint at) const {
    const std::optional<std::uint8_t> operand = poly::copied_operand(facts_of(at));
    if (!operand) return false;
    for (const ddg::Access& access : all_.accesses(at.statement))
      if (access.instruction == at.instruction && graph_.objects[access.object].kind != ddg::Object::Kind::kStack)
        return false;
    for (const ddg::LocalFlow& local : graph_.statements[at.statement].local)
      if (local.to == at.instruction && local.operand == *operand) return is_from_before({at.statement, local.from});
    for (const Dependence& dependence : all_.into(at.statement, at.instruction)) {
      if (dependence.operand != *operand || dependence.from == ddg::kNoStatement) continue;
      const Counts counts = all_.counts_of(dependence, inside_);
      if (counts.within > 0 || counts.carried > 0) return false;
    }
    return true;
  }

  /// One constant, which is put into a register now and then.
  bool is_always_same() const {
    const std::vector<Value>& values = variable_.values;
    return !values.empty() && std::all_of(values.begin(), values.end(), [&](const Value& value) {
      return value.registers.empty() && value.number == values.front().number;
    }) && std::all_of(ways_.set.begin(), ways_.set.end(), [&](poly::CodePoint at) {
      return facts_of(at).reads.empty() && (facts_of(at).kinds & trace::kLoad) == 0;
    });
  }

  /// Index values that it hands from iteration to iteration: a counter goes on, anything else is used there.
  void find_steps() {
    for (const Dependence* dependence : handed_) {
      const poly::CodePoint from{dependence->from, dependence->from_instruction};
      if (!sets(from)) continue;
      if (sets({dependence->to, dependence->to_instruction}) && all_.is_index(from, flow_, 0))
        ways_.stepped.push_back(from);
      else
        ways_.handed = true;
    }
    // It is read where it is no more by name: in a copy.
    if (ways_.stepped.empty() && carried_use_ && ways_.from_before && !ways_.carried &&
        std::all_of(ways_.set.begin(), ways_.set.end(),
                    [&](poly::CodePoint at) { return all_.step_of(at, inside_).value_or(0) != 0; }))
      ways_.stepped = ways_.set;
  }

  // ---- known, but stored nowhere ----

  void find_values() {
    const bool counts = carried_use_ || is_counter();
    for (const Value& value : variable_.values) {
      if (!is_of_loop(value)) continue;
      if (value.registers.empty() ? !is_set_to(value) : counts || !is_computed(value)) continue;
      if (!ways_.defined) ways_.at = value.code.start;
      ways_.defined = ways_.only_known = true;
      ways_.from_before = ways_.from_before && !value.registers.empty();
    }
  }

  /// It begins in the loop; or right before it, in instructions that do nothing: those that align the loop.
  bool is_of_loop(const Value& value) const {
    constexpr std::uint64_t kLongest = 16;
    std::uint64_t first = value.code.end;
    for (const ddg::StatementId id : code_)
      for (const ddg::Instruction& one : graph_.statements[id].instructions)
        if (one.address >= value.code.start) first = std::min(first, one.address);
    if (first == value.code.start) return true;
    if (first == value.code.end || first - value.code.start >= kLongest) return false;
    return std::none_of(graph_.statements.begin(), graph_.statements.end(), [&](const ddg::Statement& statement) {
      return std::any_of(
          statement.instructions.begin(), statement.instructions.end(), [&](const ddg::Instruction& one) {
            return value.code.start <= one.address && one.address < first && (one.kinds & trace::kNop) == 0;
          });
    });
  }

  /// A constant, and not in all of the loop. (What is in a register that nothing sets may be the same.)
  bool is_set_to(const Value& value) const {
    return has_instruction([&](const ddg::Instruction& one) {
      return std::none_of(variable_.values.begin(), variable_.values.end(),
                          [&](const Value& other) {
                            return other.registers.empty() && other.number == value.number &&
                                   holds(other.code, one.address);
                          }) &&
             std::none_of(variable_.places.begin(), variable_.places.end(),
                          [&](const auto& place) { return holds(place.code, one.address); });
    });
  }

  /// Whether an operand is a register that a value is computed from there.
  bool is_part_of(const Value& value, poly::CodePoint at, std::uint8_t operand) const {
    return holds(value.code, address_of(at)) && reads_register(at, operand, [&](std::uint32_t reg) {
             return std::find(value.registers.begin(), value.registers.end(), reg) != value.registers.end();
           });
  }
  /// Registers that a value is computed from, by what their values come from.
  struct Parts {
    std::set<std::uint32_t> here;   // from the iteration
    std::set<std::uint32_t> other;  // from another one
  };

  Parts parts_of(const Value& value) const {
    Parts parts;
    const auto reg_of = [&](poly::CodePoint at, std::uint8_t operand) {
      return *dwarf_number(facts_of(at).reads[operand]);
    };
    for (const ddg::StatementId id : code_) {
      for (const ddg::LocalFlow& local : graph_.statements[id].local)
        if (is_part_of(value, {id, local.to}, local.operand) && !is_from_before({id, local.from}))
          parts.here.insert(reg_of({id, local.to}, local.operand));
      for_each(id, [&](poly::CodePoint at) {
        if (!holds(value.code, address_of(at))) return;
        for (const Dependence& part : all_.into(id, at.instruction)) {
          if (part.kind != Dependence::Kind::kRegister || part.from == ddg::kNoStatement) continue;
          if (!is_part_of(value, at, part.operand)) continue;
          const Counts counts = all_.counts_of(part, inside_);
          if (counts.carried > 0) parts.other.insert(reg_of(at, part.operand));
          if (counts.within > 0 && !is_from_before({part.from, part.from_instruction}))
            parts.here.insert(reg_of(at, part.operand));
        }
      });
    }
    return parts;
  }

  /// In some part of the loop it is computed from what other iterations hand on, and from nothing else.
  bool is_counter() {
    for (const Value& value : variable_.values)
      if (!value.registers.empty()) parts_.emplace(&value, parts_of(value));
    for (const auto& [value, parts] : parts_) handed_on_.insert(parts.other.begin(), parts.other.end());
    return std::any_of(parts_.begin(), parts_.end(),
                       [&](const auto& one) { return !one.second.other.empty() && !is_computed(*one.first); });
  }

  /// From what the iteration has computed, and what is not handed on from iteration to iteration elsewhere.
  bool is_computed(const Value& value) const {
    const std::set<std::uint32_t>& here = parts_.at(&value).here;
    return std::any_of(here.begin(), here.end(), [&](std::uint32_t reg) { return !handed_on_.contains(reg); });
  }

  const ValueWays& all_;
  const ddg::Graph& graph_;
  const symbols::LocalVariable& variable_;
  const Inside& inside_;
  const poly::FlowOfLoop& loop_;
  const poly::RegionFlow& flow_;
  std::vector<ddg::StatementId> code_;  // of the loop's own function, increasing
  Ways ways_;
  bool only_moved_ = false;                // all that seems to set it is a copy of itself
  bool carried_use_ = false;               // it is read, and has been set by another iteration
  std::set<poly::CodePoint> used_;         // that make what is read as the variable later
  std::vector<const Dependence*> handed_;  // index values, from iteration to iteration
  std::map<const Value*, Parts> parts_;
  std::set<std::uint32_t> handed_on_;  // registers, of all parts
};

Ways ValueWays::of_register(const symbols::LocalVariable& variable, const Inside& inside, const poly::FlowOfLoop& loop,
                            const poly::RegionFlow& flow) const {
  return OfRegister(*this, variable, inside, loop, flow).run();
}

}  // namespace loopfold::advise::liveness
