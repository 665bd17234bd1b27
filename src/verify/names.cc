#include "verify/names.h"

#include <fmt/format.h>

namespace loopfold::verify {

std::string text_of(const std::optional<profile::Source>& source) {
  if (!source) return "";
  return fmt::format("{}:{}", source->file.substr(source->file.find_last_of('/') + 1), source->line);
}

std::optional<profile::Source> Names::source(const Node& node) const {
  const symbols::Location& location = symbolizer_.locate(node.address);
  if (!location.file.empty() && location.line != 0) return profile::Source{location.file, location.line};
  if (node.context >= nodes_.size()) return std::nullopt;
  for (std::optional<std::uint32_t> at = nodes_[node.context]; at; at = tree_[*at].parent)
    if (tree_[*at].call_site) return tree_[*at].call_site;
  return std::nullopt;
}

std::string Names::text(const Node& node) const {
  const symbols::Location& location = symbolizer_.locate(node.address);
  if (!location.file.empty() && location.line != 0) return text_of(profile::Source{location.file, location.line});
  const std::optional<profile::Source> call = source(node);
  if (call) return fmt::format("{}, called at {}", location.function.empty() ? "code" : location.function, text_of(call));
  if (!location.module.empty()) return fmt::format("{}+{:#x}", location.module, location.module_offset);
  return "code in no file";
}

}  // namespace loopfold::verify
