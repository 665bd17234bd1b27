#include "poly/excluded.h"

#include <fmt/format.h>

#include <algorithm>

#include "poly/pure_calls.h"

namespace loopfold::poly {

namespace {

bool is_meant(const profile::TreeNode& node, const std::string& name) {
  if (node.kind == profile::TreeNode::Kind::kRoot) return false;
  if (is_file(node.module, name)) return true;
  if (node.kind != profile::TreeNode::Kind::kLoop) return is_called(node.function, name);
  return std::any_of(node.inlined.begin(), node.inlined.end(),
                     [&](const std::string& function) { return is_called(function, name); });
}

}  // namespace

bool is_file(std::string_view module, std::string_view name) {
  if (name.empty() || !module.starts_with(name)) return false;
  const std::string_view rest = module.substr(name.size());
  if (rest.empty()) return true;
  return name.ends_with(".so") ? rest.starts_with(".") : rest == ".so" || rest.starts_with(".so.");
}

std::vector<std::string> exclude(std::span<const std::string> names, profile::Profile& profile) {
  if (names.empty()) return {};
  std::vector<bool> matched(names.size());
  std::uint64_t instructions = 0;
  for (profile::TreeNode& node : profile.tree) {
    const bool inside = node.parent && profile.tree[*node.parent].excluded;
    node.excluded = inside;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!is_meant(node, names[i])) continue;
      matched[i] = true;
      node.excluded = true;
    }
    if (node.excluded && !inside) instructions += node.ops;
  }
  std::vector<std::string> found;
  std::vector<std::string> unmatched;
  for (std::size_t i = 0; i < names.size(); ++i) (matched[i] ? found : unmatched).push_back(names[i]);
  if (!found.empty()) {
    const auto whole = static_cast<double>(std::max<std::uint64_t>(profile.program.instructions, 1));
    profile.quality.push_back(
        {"excluded", fmt::format("{} and what runs below: left out as asked (--exclude)", fmt::join(found, ", ")),
         static_cast<double>(instructions) / whole});
  }
  return unmatched;
}

}  // namespace loopfold::poly
