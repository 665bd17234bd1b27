#include "poly/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "poly/gave_up.h"
#include "trace/decode.h"

namespace loopfold::poly {

namespace {

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

std::uint64_t hidden_calls(const ddg::Graph& graph) {
  std::uint64_t calls = 0;
  for (const ddg::Statement& statement : graph.statements)
    if (statement.kind == ddg::Statement::Kind::kHidden) calls += statement.count;
  return calls;
}

std::uint64_t unknown_instructions(const ddg::Graph& graph) {
  std::uint64_t executed = 0;
  for (const ddg::Statement& statement : graph.statements)
    for (const ddg::Instruction& instruction : statement.instructions)
      if (statement.kind == ddg::Statement::Kind::kCode && (instruction.kinds & trace::kUnknown) != 0)
        executed += statement.count;
  return executed;
}

/// Instances of a dependence whose ends are in different threads, handlers or coroutines.
std::uint64_t between_stacks(const ddg::Graph& graph, const structure::LoopTree& tree,
                             const ddg::Dependence& dependence) {
  if (dependence.from == ddg::kNoStatement) return 0;
  const structure::ContextId from = graph.statements[dependence.from].context;
  const structure::ContextId to = graph.statements[dependence.to].context;
  if (ddg::shared_dimensions(tree, from, to) == 0) return dependence.map.points;
  return dependence.carried.empty() ? 0 : dependence.carried.front();
}

/// Whether some flow is in doubt because recording paused.
bool paused(const ddg::Graph& graph) {
  for (const ddg::Dependence& dependence : graph.dependences)
    if (dependence.map.why.starts_with("recording paused")) return true;
  return false;
}

/// Instructions that use a value of another stack, each counted once.
std::uint64_t cross_thread_uses(const ddg::Graph& graph, const structure::LoopTree& tree) {
  std::map<std::pair<ddg::StatementId, std::uint16_t>, std::uint64_t> uses;
  for (const ddg::Dependence& dependence : graph.dependences) {
    const std::uint64_t between = between_stacks(graph, tree, dependence);
    if (between == 0) continue;
    std::uint64_t& most = uses[{dependence.to, dependence.to_instruction}];
    most = std::max(most, between);
  }
  std::uint64_t total = 0;
  for (const auto& [instruction, instances] : uses) total += instances;
  return total;
}

}  // namespace

void add_quality(const ddg::Graph& graph, const Context& context, profile::Profile& profile) {
  const std::uint64_t whole = profile.program.instructions;
  if (!graph.damage.empty() && !profile.program.partial) {
    profile.program.partial = true;
    profile.quality.push_back({"partial", graph.damage, 1.0});
  }
  if (const std::uint64_t calls = hidden_calls(graph); calls != 0)
    profile.quality.push_back(
        {"hidden code",
         fmt::format("{} calls of library code that was not recorded (--no-libs): what it does to memory is not known",
                     calls),
         share_of(context.hidden_instructions, context.hidden_instructions + whole)});
  if (const std::uint64_t unknown = unknown_instructions(graph); unknown != 0)
    profile.quality.push_back({"unknown instructions",
                               "instructions that the decoder does not know: what they read and write is missing",
                               share_of(unknown, whole)});
  if (const std::uint64_t uses = cross_thread_uses(graph, context.tree); uses != 0) {
    const bool pauses = profile.program.threads <= 1 && paused(graph);
    profile.quality.push_back(
        {pauses ? "pauses" : "cross-thread flow",
         pauses ? "values flow over times when recording paused (--only); what ran then may have written them anew"
                : "values flow between threads, signal handlers or coroutines; their order is that of this recording",
         share_of(uses, whole)});
  }
  if (!profile.gave_up.empty())
    profile.quality.push_back({"given up",
                               "addresses, domains or dependences are larger than what happened; gave_up in profile.json names them",
                               share_of(inexact_instructions(graph), whole)});
}

}  // namespace loopfold::poly
