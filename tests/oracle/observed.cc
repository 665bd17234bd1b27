// Edges between instructions, as isl maps; then transparent instructions are composed away.
#include "observed.h"

#include <fmt/format.h>

#include <algorithm>

#include "piece_text.h"

namespace loopfold::oracle {

namespace {

constexpr int kLongestWay = 12;            // through transparent instructions
constexpr std::uint16_t kScalarBytes = 8;  // of a vector register

class Observer {
 public:
  Observer(isl::ctx context, Analysed& run, const Description& description)
      : context_(context),
        run_(run),
        description_(description),
        functions_(kernel_functions(run, description)),
        instances_(context, "{ }"),
        domains_(context, "{ }"),
        edges_(context, "{ }") {}

  Observed observe() {
    for (const ddg::Statement& statement : run_.graph.statements) add_statement(statement);
    for (const ddg::Dependence& dependence : run_.graph.dependences) add_dependence(dependence);
    into_.domains = domains_;
    into_.flow = without_identity(compose());
    return into_;
  }

 private:
  std::size_t dimensions(const ddg::Statement& statement) const {
    return ddg::dimensions_of(run_.tree, statement.context);
  }

  bool in_kernel(const ddg::Statement& statement, std::uint16_t instruction) {
    if (statement.kind != ddg::Statement::Kind::kCode) return false;
    const std::uint64_t address = statement.instructions[instruction].address;
    return run_.code->line_in(description_.file, address) != 0 &&
           functions_.count(run_.code->source(address).function) != 0;
  }

  /// The statement that an instruction is part of the instances of; null if it is transparent.
  const StaticStatement* instance_of(const ddg::Statement& statement, std::uint16_t instruction) {
    const int line = run_.code->line_in(description_.file, statement.instructions[instruction].address);
    const StaticStatement* const found = description_.at_line(line);
    return found != nullptr && found->counters.size() + 1 == dimensions(statement) ? found : nullptr;
  }

  /// The name of the instances that an instruction is part of; transparent ones have a name of their own.
  std::string name(const ddg::Statement& statement, std::uint16_t instruction) {
    const StaticStatement* const found = instance_of(statement, instruction);
    return found != nullptr ? found->name : fmt::format("transparent_{}_{}", statement.id, instruction);
  }

  bool counts_as_value(const ddg::Statement& to, std::uint16_t instruction, std::uint8_t operand, std::uint16_t lane) {
    if (operand == ddg::kFlagsOperand) return false;
    const trace::InstructionFacts& facts = run_.code->facts(to.instructions[instruction].address);
    const trace::RegisterUse& use = facts.reads.at(operand);
    return use.file == trace::RegisterFile::kVector && !use.merge && use.byte + lane < kScalarBytes;
  }

  bool counts(const ddg::Dependence& dependence) {
    const ddg::Statement& from = run_.graph.statements[dependence.from];
    const ddg::Statement& to = run_.graph.statements[dependence.to];
    if (!in_kernel(from, dependence.from_instruction) || !in_kernel(to, dependence.to_instruction)) return false;
    if (dependence.kind == ddg::Dependence::Kind::kMemory)
      return run_.graph.objects[dependence.object].kind != ddg::Object::Kind::kStack;
    return dependence.kind == ddg::Dependence::Kind::kRegister &&
           counts_as_value(to, dependence.to_instruction, dependence.operand, dependence.lane);
  }

  /// The statement's domain, where it has instances, and the flow inside of each instance.
  void add_statement(const ddg::Statement& statement) {
    const std::size_t depth = dimensions(statement);
    std::set<std::string> names;
    for (std::uint16_t i = 0; i < statement.instructions.size(); i++)
      if (in_kernel(statement, i) && instance_of(statement, i) != nullptr) names.insert(name(statement, i));
    for (const std::string& one : names) {
      need_exact(statement.domain, fmt::format("domain of {}", one));
      domains_ = domains_.unite(isl::union_set(context_, domain_text(statement.domain, one, depth)));
      instances_ = instances_.unite(isl::union_set(context_, fmt::format("{{ {} }}", any(one, depth))));
    }
    for (const ddg::LocalFlow& flow : statement.local) add_local(statement, flow);
  }

  void add_local(const ddg::Statement& statement, const ddg::LocalFlow& flow) {
    if (!in_kernel(statement, flow.from) || !in_kernel(statement, flow.to)) return;
    if (!counts_as_value(statement, flow.to, flow.operand, flow.lane)) return;
    const std::string from = name(statement, flow.from);
    const std::string to = name(statement, flow.to);
    if (from == to) return;
    const std::size_t depth = dimensions(statement);
    need_exact(statement.domain, fmt::format("domain of {}", from));
    const isl::union_map same(context_, fmt::format("{{ {} -> {} }}", any(from, depth), any(to, depth)));
    edges_ = edges_.unite(same.intersect_range(isl::union_set(context_, domain_text(statement.domain, to, depth))));
  }

  void add_dependence(const ddg::Dependence& dependence) {
    if (!counts(dependence)) return;
    const ddg::Statement& from = run_.graph.statements[dependence.from];
    const ddg::Statement& to = run_.graph.statements[dependence.to];
    const std::string from_name = name(from, dependence.from_instruction);
    const std::string to_name = name(to, dependence.to_instruction);
    need_exact(dependence.map, fmt::format("{} -> {}, {}", from_name, to_name, describe(from, to, dependence)));
    into_.streams++;
    into_.pieces += dependence.map.pieces.size();
    edges_ = edges_.unite(
        isl::union_map(context_, map_text(dependence.map, from_name, dimensions(from), to_name, dimensions(to))));
  }

  std::string describe(const ddg::Statement& from, const ddg::Statement& to, const ddg::Dependence& dependence) {
    return fmt::format(
        "{} to {}, operand {}", run_.symbolizer->describe(from.instructions[dependence.from_instruction].address),
        run_.symbolizer->describe(to.instructions[dependence.to_instruction].address), dependence.operand);
  }

  void need_exact(const fold::Folded& folded, const std::string& what) {
    std::uint64_t points = 0;
    bool exact = folded.exact();
    for (const fold::Piece& piece : folded.pieces) {
      points += piece.points;
      exact = exact && piece.exact();
    }
    if (!exact) into_.inexact.push_back(fmt::format("{}: {}", what, folded.gave_up ? folded.why : "a label is TOP"));
    if (points != folded.points)
      into_.inexact.push_back(fmt::format("{}: {} points, {} of them in pieces", what, folded.points, points));
  }

  /// `NAME[i1, i2]`.
  static std::string any(const std::string& name, std::size_t dimensions) {
    std::vector<std::string> counters;
    for (std::size_t k = 1; k < dimensions; k++) counters.push_back(fmt::format("i{}", k));
    return fmt::format("{}[{}]", name, fmt::join(counters, ", "));
  }

  /// Flow from instances to instances, along all ways through transparent instructions.
  isl::union_map compose() {
    const isl::union_map into_instances = edges_.intersect_range(instances_);
    const isl::union_map into_others = edges_.subtract_range(instances_);
    isl::union_map flow = into_instances.intersect_domain(instances_);
    isl::union_map ways = into_others.intersect_domain(instances_);
    for (int length = 1; !ways.is_empty(); length++) {
      if (length > kLongestWay) {
        into_.inexact.push_back(fmt::format("a way through {} transparent instructions", length));
        break;
      }
      flow = flow.unite(ways.apply_range(into_instances));
      ways = ways.apply_range(into_others);
    }
    return flow;
  }

  isl::union_map without_identity(const isl::union_map& flow) const { return flow.subtract(instances_.identity()); }

  isl::ctx context_;
  Analysed& run_;
  const Description& description_;
  std::set<std::string> functions_;
  isl::union_set instances_;  // all that have a statement's name
  isl::union_set domains_;
  isl::union_map edges_;
  Observed into_;
};

}  // namespace

std::set<std::string> kernel_functions(Analysed& run, const Description& description) {
  std::set<int> lines;
  for (const auto& [tag, line] : description.tags) lines.insert(line);
  std::set<std::string> functions;
  for (const ddg::Statement& statement : run.graph.statements) {
    if (statement.kind != ddg::Statement::Kind::kCode) continue;
    for (const ddg::Instruction& instruction : statement.instructions)
      if (lines.count(run.code->line_in(description.file, instruction.address)) != 0)
        functions.insert(run.code->source(instruction.address).function);
  }
  return functions;
}

Observed observe(isl::ctx context, Analysed& run, const Description& description) {
  return Observer(context, run, description).observe();
}

}  // namespace loopfold::oracle
