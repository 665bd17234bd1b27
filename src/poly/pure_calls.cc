#include "poly/pure_calls.h"

#include <algorithm>

namespace loopfold::poly {

namespace {

/// Where the parameters of a demangled name start: the parenthesis that the last one closes. Qualifiers may follow it.
std::size_t parameters_of(std::string_view function) {
  std::size_t depth = 0;
  for (std::size_t i = function.rfind(')') + 1; i-- > 0;) {
    if (function[i] == ')') ++depth;
    if (function[i] == '(' && --depth == 0) return i;
  }
  return function.size();
}

bool is_call(const structure::Context& context) {
  return context.kind == structure::Context::Kind::kCall || context.kind == structure::Context::Kind::kRecursion;
}

}  // namespace

bool is_called(std::string_view function, std::string_view name) {
  if (name.empty()) return false;
  if (function == name) return true;
  const std::size_t parameters = parameters_of(function);
  return parameters != 0 && function.substr(0, parameters) == name;
}

PureCalls pure_calls(std::span<const std::string> names, const Context& context, const profile::Profile& profile) {
  PureCalls pure;
  if (names.empty()) return pure;
  const std::span<const structure::Context> contexts = context.tree.contexts();
  std::vector<bool> matched(names.size());
  pure.contexts.resize(contexts.size());
  for (structure::ContextId id = 1; id < contexts.size(); ++id) {
    pure.contexts[id] = pure.contexts[contexts[id].parent];
    if (is_call(contexts[id])) {
      const std::string& function = profile.tree[context.nodes[id]].function;
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (!is_called(function, names[i])) continue;
        matched[i] = true;
        pure.contexts[id] = true;
      }
    }
    if (pure.contexts[id]) pure.instructions += contexts[id].instructions;
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!matched[i]) pure.unmatched.push_back(names[i]);
  return pure;
}

}  // namespace loopfold::poly
