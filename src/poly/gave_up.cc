#include "poly/gave_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "poly/functions.h"

namespace loopfold::poly {

namespace {

/// An instruction of a statement; all of them.
using InstructionKey = std::pair<ddg::StatementId, std::uint32_t>;
constexpr std::uint32_t kAllInstructions = 0xffffffff;

/// How many instances of each instruction are concerned: the most that one stream says.
class Concerned {
 public:
  void add(InstructionKey key, std::uint64_t instances) {
    std::uint64_t& most = instances_[key];
    most = std::max(most, instances);
  }
  std::uint64_t total() const {
    std::uint64_t total = 0;
    for (const auto& [key, instances] : instances_) total += instances;
    return total;
  }

 private:
  std::map<InstructionKey, std::uint64_t> instances_;
};

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

class Collector {
 public:
  Collector(const ddg::Graph& graph, const Context& context, const profile::Profile& profile)
      : graph_(graph), context_(context), names_(context.locate), profile_(profile) {}

  std::vector<profile::GaveUp> run() {
    for (const ddg::Statement& statement : graph_.statements) look_at(statement);
    for (const ddg::Access& access : graph_.accesses) look_at(access);
    for (const ddg::Value& value : graph_.values) look_at(value);
    for (const ddg::Dependence& dependence : graph_.dependences) look_at(dependence);
    for (const ddg::GaveUp& gave_up : graph_.gave_up)
      found_[{what_of(gave_up), gave_up.why}].add({gave_up.statement, kAllInstructions}, gave_up.instructions);
    std::vector<profile::GaveUp> result;
    const std::uint64_t whole = profile_.program.instructions;
    for (const auto& [name, concerned] : found_)
      result.push_back({name.first, name.second, share_of(concerned.total(), whole)});
    std::sort(result.begin(), result.end(), [](const profile::GaveUp& a, const profile::GaveUp& b) {
      return std::tuple(-a.share, std::string_view(a.what), std::string_view(a.why)) <
             std::tuple(-b.share, std::string_view(b.what), std::string_view(b.why));
    });
    return result;
  }

 private:
  const ddg::Statement& statement(ddg::StatementId id) const { return graph_.statements[id]; }
  std::uint64_t address(ddg::StatementId id, std::uint16_t instruction) const {
    const std::vector<ddg::Instruction>& instructions = statement(id).instructions;
    return instruction < instructions.size() ? instructions[instruction].address : 0;
  }

  std::string what_of(const ddg::GaveUp& gave_up) const {
    if (gave_up.statement == ddg::kNoStatement) return gave_up.what;
    return fmt::format("{} {}", gave_up.what, names_.phrase(address(gave_up.statement, 0)));
  }

  void look_at(const ddg::Statement& from) {
    if (from.domain.exact() || from.instructions.empty()) return;
    const std::string what = fmt::format("domain of {}", names_.name(from.instructions.front().address));
    found_[{what, why(from.domain, from.context)}].add({from.id, kAllInstructions},
                                                       from.count * from.instructions.size());
  }

  void look_at(const ddg::Access& from) {
    if (from.address.exact()) return;
    const std::string what = fmt::format("address of the {} {}", from.store ? "store" : "load",
                                         names_.phrase(address(from.statement, from.instruction)));
    found_[{what, why(from.address, statement(from.statement).context)}].add({from.statement, from.instruction},
                                                                             from.address.points);
  }

  void look_at(const ddg::Value& from) {
    if (!from.value.gave_up) return;
    const std::string what = fmt::format("integer result {}", names_.phrase(address(from.statement, from.instruction)));
    found_[{what, why(from.value, statement(from.statement).context)}].add({from.statement, from.instruction},
                                                                           from.value.points);
  }

  void look_at(const ddg::Dependence& from) {
    if (from.map.exact()) return;
    const std::string consumer = names_.name(address(from.to, from.to_instruction));
    const std::string what =
        from.from == ddg::kNoStatement
            ? fmt::format("producer of what {} reads", consumer)
            : fmt::format("dependence {} -> {}", names_.name(address(from.from, from.from_instruction)), consumer);
    found_[{what, why(from.map, statement(from.to).context)}].add({from.to, from.to_instruction}, from.map.points);
  }

  /// The folder's own words if it gave up; else what it is not affine along.
  std::string why(const fold::Folded& folded, structure::ContextId context) const {
    if (folded.gave_up) return folded.why.empty() ? "not a union of few polyhedra" : folded.why;
    const std::vector<bool> top = top_coordinates(folded);
    const std::vector<std::uint32_t> nodes = nodes_of_coordinates(context_, context);
    std::vector<std::string> along;
    for (std::size_t k = 0; k < top.size(); ++k)
      if (top[k]) along.push_back(k == 0 ? "threads" : k < nodes.size() ? node_name(nodes[k]) : "its parts");
    return along.empty() ? "not affine" : fmt::format("not affine along {}", fmt::join(along, ", "));
  }

  std::string node_name(std::uint32_t id) const {
    const profile::TreeNode& node = profile_.tree[id];
    if (node.kind == profile::TreeNode::Kind::kRecursion) return fmt::format("the recursion of {}", node.function);
    if (node.source) return fmt::format("the loop at {}:{}", base_name(node.source->file), node.source->line);
    return fmt::format("a loop in {}", node.function);
  }

  const ddg::Graph& graph_;
  const Context& context_;
  PlaceNames names_;
  const profile::Profile& profile_;
  std::map<std::pair<std::string, std::string>, Concerned> found_;  // by what and why
};

}  // namespace

void add_gave_up(const ddg::Graph& graph, const Context& context, profile::Profile& profile) {
  profile.gave_up = Collector(graph, context, profile).run();
}

std::uint64_t inexact_instructions(const ddg::Graph& graph) {
  Concerned concerned;
  std::uint64_t whole_statements = 0;
  const auto covered = [&](ddg::StatementId id) { return !graph.statements[id].domain.exact(); };
  for (const ddg::Statement& statement : graph.statements)
    if (covered(statement.id)) whole_statements += statement.count * statement.instructions.size();
  for (const ddg::Access& access : graph.accesses)
    if (!access.address.exact() && !covered(access.statement))
      concerned.add({access.statement, access.instruction}, access.address.points);
  for (const ddg::Dependence& dependence : graph.dependences)
    if (!dependence.map.exact() && !covered(dependence.to))
      concerned.add({dependence.to, dependence.to_instruction}, dependence.map.points);
  return whole_statements + concerned.total();
}

}  // namespace loopfold::poly
