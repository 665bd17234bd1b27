#include "poly/place_names.h"

#include <fmt/format.h>

namespace loopfold::poly {

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::optional<profile::Source> PlaceNames::source(std::uint64_t address) const {
  const symbols::Location& location = locate_(address);
  if (location.file.empty() || location.line == 0) return std::nullopt;
  return profile::Source{location.file, location.line};
}

CodeAddress PlaceNames::code(std::uint64_t address) const {
  const symbols::Location& location = locate_(address);
  return {location.module, location.module.empty() ? 0 : location.module_offset};
}

std::string PlaceNames::function(std::uint64_t address) const {
  const symbols::Location& location = locate_(address);
  if (!location.function.empty()) return location.function;
  return location.module.empty() ? "" : fmt::format("{}+{:#x}", location.module, location.module_offset);
}

std::string PlaceNames::line(std::uint64_t address) const {
  const std::optional<profile::Source> known = source(address);
  return known ? fmt::format("{}:{}", base_name(known->file), known->line) : "";
}

std::string PlaceNames::name(std::uint64_t address) const {
  if (const std::string known = line(address); !known.empty()) return known;
  const symbols::Location& location = locate_(address);
  if (location.module.empty()) return "generated code";
  return location.function.empty() ? location.module : fmt::format("{} ({})", location.function, location.module);
}

std::string PlaceNames::phrase(std::uint64_t address) const {
  return (line(address).empty() ? "in " : "at ") + name(address);
}

}  // namespace loopfold::poly
