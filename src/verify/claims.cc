#include "verify/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace loopfold::verify {

namespace {

using structure::Context;
using structure::ContextId;

/// "f(int)" is called so and "f".
bool is_called(const std::string& function, std::string_view name) {
  if (function == name) return true;
  return function.size() > name.size() && function.compare(0, name.size(), name) == 0 && function[name.size()] == '(';
}

}  // namespace

std::uint16_t level_of(const structure::LoopTree& tree, ContextId context) {
  std::uint16_t levels = 0;
  for (; context != structure::LoopTree::root(); context = tree[context].parent)
    if (tree[context].kind != Context::Kind::kCall) ++levels;
  return static_cast<std::uint16_t>(levels - 1);
}

Result<std::vector<LoopClaim>> loop_claims(const profile::Profile& profile, const structure::LoopTree& tree,
                                           const std::vector<std::uint32_t>& nodes) {
  std::map<std::uint32_t, std::vector<ContextId>> loops;  // by node
  for (ContextId id = 1; id < nodes.size(); ++id)
    if (tree[id].kind == Context::Kind::kLoop) loops[nodes[id]].push_back(id);
  std::vector<LoopClaim> claims;
  for (const profile::Region& region : profile.regions) {
    for (const profile::Loop& loop : region.loops) {
      LoopClaim claim{region.id, &loop, {}};
      std::map<ContextId, LoopPlace> by_parent;
      for (const std::uint32_t node : loop.nodes) {
        const auto found = loops.find(node);
        if (found == loops.end())
          return fail(ErrorKind::kBadInput,
                      fmt::format("the profile has a loop at node {} that the trace has not; analyse again", node));
        for (const ContextId context : found->second) {
          LoopPlace& place = by_parent[tree[context].parent];
          place.contexts.push_back(context);
          place.level = level_of(tree, context);
        }
      }
      for (auto& [parent, place] : by_parent) claim.places.push_back(std::move(place));
      claims.push_back(std::move(claim));
    }
  }
  return claims;
}

std::vector<bool> pure_calls(const profile::Profile& profile, const structure::LoopTree& tree,
                             const std::vector<std::uint32_t>& nodes) {
  constexpr std::string_view kBefore = "calls of ";
  constexpr std::string_view kBehind = " may be reordered";
  std::vector<std::string> names;
  for (const profile::Quality& quality : profile.quality) {
    const std::size_t end = quality.text.find(kBehind);
    if (quality.kind != "taken for pure" || quality.text.rfind(kBefore, 0) != 0 || end == std::string::npos) continue;
    std::string_view rest = std::string_view(quality.text).substr(kBefore.size(), end - kBefore.size());
    while (!rest.empty()) {
      const std::size_t comma = rest.find(", ");
      names.emplace_back(rest.substr(0, comma));
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 2);
    }
  }
  std::vector<bool> pure(tree.contexts().size());
  if (names.empty()) return pure;
  for (ContextId id = 1; id < nodes.size(); ++id) {
    const Context& context = tree[id];
    pure[id] = pure[context.parent];
    if (context.kind == Context::Kind::kLoop || nodes[id] >= profile.tree.size()) continue;
    const std::string& function = profile.tree[nodes[id]].function;
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return is_called(function, name); }))
      pure[id] = true;
  }
  return pure;
}

Operators operators_of(const profile::Loop& loop) {
  using trace::Associative;
  Operators operators;
  for (const profile::Reduction& reduction : loop.reductions) {
    const std::string& name = reduction.operation;
    if (name == "+") operators.operations.insert(operators.operations.end(), {Associative::kAdd, Associative::kSubtract});
    if (name == "*") operators.operations.push_back(Associative::kMultiply);
    if (name == "min") operators.operations.push_back(Associative::kMin);
    if (name == "max") operators.operations.push_back(Associative::kMax);
    if (name == "&") operators.operations.push_back(Associative::kAnd);
    if (name == "|") operators.operations.push_back(Associative::kOr);
    if (name == "^") operators.operations.push_back(Associative::kXor);
  }
  return operators;
}

}  // namespace loopfold::verify
