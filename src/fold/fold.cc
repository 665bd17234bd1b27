// What all ways of folding have in common.
#include "fold/fold.h"

#include <array>
#include <utility>

#include "fold/run.h"
#include "support/wide.h"

namespace loopfold::fold {

namespace {

constexpr std::array<std::pair<Variant, std::string_view>, 5> kNames{{{Variant::kF, "F"},
                                                                      {Variant::kFW, "FW"},
                                                                      {Variant::kFGG, "FGG"},
                                                                      {Variant::kFGGW, "FGGW"},
                                                                      {Variant::kAuto, "auto"}}};

/// False if it does not fit into 128 bits.
bool evaluate(const Affine& function, std::span<const std::int64_t> point, Wide& into) {
  into = function.constant;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k)
    if (__builtin_add_overflow(into, static_cast<Wide>(function.coefficients[k]) * point[k], &into)) return false;
  return true;
}

bool evaluate(const Affine& function, std::span<const std::int64_t> point, std::int64_t& into) {
  Wide value = 0;
  if (!evaluate(function, point, value)) return false;
  into = static_cast<std::int64_t>(value);
  return into == value;
}

}  // namespace

void Folder::add_run(const Run& run) {
  add_in_parts(
      shape_, run, 0, [this](const std::int64_t* at, const std::int64_t* label) { add(at, label); },
      [](const Run&) { return std::uint64_t{0}; });
}

void Folder::add_ranks(const Run& run, const Ranks& ranks) {
  for_each_rank(shape_, run, ranks, 0, [this](const Run& first, const Ranks&) -> std::uint64_t {
    add_run(first);
    return 1;
  });
}

void Folder::add_rows(const Rows& rows) {
  for (std::size_t i = 0; i < rows.n; ++i) add(rows.points + i * shape_.dimensions, rows.labels + i * shape_.outputs);
}

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
  Wide value = 0;
  if (!output.affine() || !evaluate(output.value, point, value) || value % output.divisor != 0) return false;
  value /= output.divisor;
  if (output.modulus != 0) {
    const Wide remainder = (value % output.modulus - output.base % output.modulus) % output.modulus;
    value = output.base + (remainder < 0 ? remainder + output.modulus : remainder);
  }
  into = static_cast<std::int64_t>(value);
  return into == value;
}

bool contains(const Piece& piece, std::span<const std::int64_t> point) {
  for (std::size_t k = 0; k < piece.ranges.size(); ++k) {
    const Range& range = piece.ranges[k];
    std::int64_t lower = 0;
    std::int64_t upper = 0;
    if (!evaluate(range.lower, point, lower) || !evaluate(range.upper, point, upper)) return false;
    const Wide at = static_cast<Wide>(range.divisor) * point[k];
    if (at < lower || at > upper) return false;
    if ((at - lower) % (static_cast<Wide>(range.divisor) * range.stride) != 0) return false;
  }
  return true;
}

}  // namespace loopfold::fold
