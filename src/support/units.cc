#include "support/units.h"

#include <fmt/format.h>

#include <array>

namespace loopfold {

namespace {

std::string scaled(double value, const std::array<const char*, 5>& names) {
  std::size_t at = 0;
  while (value >= 1000 && at + 1 < names.size()) {
    value /= 1000;
    at++;
  }
  if (at == 0) return fmt::format("{:.0f}{}", value, names[0]);
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, names[at]);
}

}  // namespace

std::string short_count(std::uint64_t count) { return scaled(static_cast<double>(count), {"", " k", " M", " G", " T"}); }

std::string short_bytes(std::uint64_t bytes) {
  return scaled(static_cast<double>(bytes), {" B", " kB", " MB", " GB", " TB"});
}

}  // namespace loopfold
