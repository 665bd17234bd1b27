#include "support/units.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

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

std::string short_count(std::uint64_t count) {
  return scaled(static_cast<double>(count), {"", " k", " M", " G", " T"});
}

std::string short_bytes(std::uint64_t bytes) {
  return scaled(static_cast<double>(bytes), {" B", " kB", " MB", " GB", " TB"});
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<std::uint64_t> parse_count(const std::string& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  char* rest = nullptr;
  const double number = std::strtod(text.c_str(), &rest);
  double unit = 1;
  switch (*rest) {
    case 'k':
    case 'K':
      unit = 1e3;
      break;
    case 'm':
    case 'M':
      unit = 1e6;
      break;
    case 'g':
    case 'G':
      unit = 1e9;
      break;
    case 't':
    case 'T':
      unit = 1e12;
      break;
    default:
      break;
  }
  if (unit != 1) rest++;
  if (*rest == 'B' || *rest == 'b') rest++;
  const double value = number * unit;
  if (*rest != '\0' || !(value >= 0 && value < 1.8e19)) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

}  // namespace loopfold
