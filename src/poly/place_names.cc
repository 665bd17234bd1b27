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

std::string PlaceNames::line(std::uint64_t address) const {
  const std::optional<profile::Source> known = source(address);
  return known ? fmt::format("{}:{}", base_name(known->file), known->line) : "";
}

}  // namespace loopfold::poly
