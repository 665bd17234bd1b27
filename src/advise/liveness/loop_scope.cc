#include "advise/liveness/loop_scope.h"

#include <algorithm>

namespace loopfold::advise::liveness {

namespace {

using Ranges = std::vector<symbols::CodeRange>;

bool holds(const Ranges& ranges, std::uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const symbols::CodeRange& range) { return range.start <= address && address < range.end; });
}

bool holds_most(const Ranges& ranges, const std::vector<std::uint64_t>& addresses) {
  const std::ptrdiff_t count =
      std::count_if(addresses.begin(), addresses.end(), [&](std::uint64_t address) { return holds(ranges, address); });
  return 2 * static_cast<std::size_t>(count) >= addresses.size();
}

std::uint64_t bytes_of(const Ranges& ranges) {
  std::uint64_t bytes = 0;
  for (const symbols::CodeRange& range : ranges) bytes += range.end - range.start;
  return bytes;
}

}  // namespace

LoopScope::LoopScope(const ddg::Graph& graph, const poly::Context& context, const poly::SourceLoop& loop,
                     const Inside& inside, std::span<const std::uint64_t> tests,
                     std::span<const symbols::LocalVariable> locals)
    : graph_(graph),
      context_(context),
      function_(context.tree[loop.loops.front()].function),
      tests_(tests.begin(), tests.end()),
      locals_(locals) {
  for (const ddg::StatementId id : inside.statements) {
    const ddg::Statement& statement = graph.statements[id];
    if (statement.function != function_) continue;
    for (const ddg::Instruction& instruction : statement.instructions) code_.push_back(instruction.address);
  }
  for (const symbols::LocalVariable& local : locals)
    if (local.depth > depth_ && is_around(local)) depth_ = local.depth;
}

bool LoopScope::is_around(const symbols::LocalVariable& local) const {
  return local.depth == 0 || (holds_most(local.inlined, tests_) && holds_most(local.inlined, code_));
}

bool LoopScope::has_block(const symbols::LocalVariable& local) const {
  if (local.scope.empty()) return false;
  std::uint64_t all = bytes_of(local.inlined);
  for (const symbols::LocalVariable& other : locals_)
    if (local.depth == 0 && other.depth == 0) all = std::max(all, bytes_of(other.scope));
  return bytes_of(local.scope) < all;
}

/// Of code in another function: of the call that leads there.
std::optional<std::uint64_t> LoopScope::place_in_function(const ddg::Dependence& use) const {
  const ddg::Statement& to = graph_.statements[use.to];
  if (to.function == function_) {
    if (use.to_instruction >= to.instructions.size()) return std::nullopt;
    return to.instructions[use.to_instruction].address;
  }
  if (context_.structure == nullptr) return std::nullopt;
  for (structure::ContextId id = to.context; id != structure::LoopTree::root(); id = context_.tree[id].parent) {
    const structure::Context& here = context_.tree[id];
    if (here.kind == structure::ContextKey::Kind::kRecursion) return std::nullopt;
    if (here.kind == structure::ContextKey::Kind::kCall && here.caller == function_)
      return context_.structure->code.address(here.site);
  }
  return std::nullopt;
}

bool LoopScope::is_out_of_scope(const symbols::LocalVariable& local, const ddg::Dependence& use) const {
  if (local.scope.empty()) return false;
  const std::optional<std::uint64_t> address = place_in_function(use);
  return address && !holds(local.scope, *address);
}

}  // namespace loopfold::advise::liveness
