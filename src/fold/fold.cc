// What all ways of folding have in common.
#include "fold/fold.h"

#include <array>
#include <utility>

#include "support/wide.h"

namespace loopfold::fold {

namespace {

constexpr std::array<std::pair<Variant, std::string_view>, 5> kNames{{{Variant::kF, "F"},
                                                                      {Variant::kFW, "FW"},
                                                                      {Variant::kFGG, "FGG"},
                                                                      {Variant::kFGGW, "FGGW"},
                                                                      {Variant::kAuto, "auto"}}};

bool evaluate(const Affine& function, std::span<const std::int64_t> point, std::int64_t& into) {
  Wide sum = function.constant;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k)
    sum += static_cast<Wide>(function.coefficients[k]) * point[k];
  into = static_cast<std::int64_t>(sum);
  return into == sum;
}

}  // namespace

std::string_view variant_name(Variant variant) {
  for (const auto& [value, name] : kNames)
    if (value == variant) return name;
  return "";
}

bool parse_variant(std::string_view name, Variant& into) {
  for (const auto& [value, known] : kNames) {
    if (known != name) continue;
    into = value;
    return true;
  }
  return false;
}

bool evaluate(const Output& output, std::span<const std::int64_t> point, std::int64_t& into) {
  if (!output.affine() || !evaluate(output.value, point, into)) return false;
  if (output.modulus == 0) return true;
  const Wide offset = static_cast<Wide>(into) - output.base;
  const Wide remainder = (offset % output.modulus + output.modulus) % output.modulus;
  const Wide value = output.base + remainder;
  into = static_cast<std::int64_t>(value);
  return into == value;
}

bool contains(const Piece& piece, std::span<const std::int64_t> point) {
  for (std::size_t k = 0; k < piece.ranges.size(); ++k) {
    const Range& range = piece.ranges[k];
    std::int64_t lower = 0;
    std::int64_t upper = 0;
    if (!evaluate(range.lower, point, lower) || !evaluate(range.upper, point, upper)) return false;
    if (point[k] < lower || point[k] > upper) return false;
    if ((static_cast<Wide>(point[k]) - lower) % range.stride != 0) return false;
  }
  return true;
}

}  // namespace loopfold::fold
