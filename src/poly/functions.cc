#include "poly/functions.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "support/wide.h"

namespace loopfold::poly {

namespace {

/// The only value that coordinate `k` has in the piece, if it has one.
std::optional<std::int64_t> fixed_coordinate(const fold::Piece& piece, std::size_t k) {
  const fold::Range& range = piece.ranges[k];
  if (range.lower != range.upper) return std::nullopt;
  for (const std::int64_t coefficient : range.lower.coefficients)
    if (coefficient != 0) return std::nullopt;
  return range.lower.constant / range.divisor;
}

/// Along coordinate `k`, where that is one number.
Coefficient plain_coefficient(const fold::Output& output, std::size_t k) {
  if (output.top[k]) return std::nullopt;
  if (output.value.coefficients[k] % output.divisor != 0) return std::nullopt;
  const std::int64_t coefficient = output.value.coefficients[k] / output.divisor;
  if (output.modulus == 0) return coefficient;
  return coefficient % output.modulus == 0 ? Coefficient(0) : std::nullopt;
}

/// Along coordinate `k`, over all pieces. Where it is fixed in all of them, but not at one value, only labels that are
/// all the same have a coefficient.
Coefficient common_coefficient(const fold::Folded& folded, std::size_t o, std::size_t k) {
  Coefficient common;
  std::optional<std::int64_t> at;
  bool moves = false;
  for (const fold::Piece& piece : folded.pieces) {
    if (const std::optional<std::int64_t> fixed = fixed_coordinate(piece, k)) {
      moves = moves || (at && *at != *fixed);
      at = fixed;
      continue;
    }
    const Coefficient here = plain_coefficient(piece.outputs[o], k);
    if (!here || (common && *common != *here)) return std::nullopt;
    common = here;
  }
  if (common) return common;
  const Extent labels = extent_of(folded, o);
  return moves && labels.minimum != labels.maximum ? std::nullopt : Coefficient(0);
}

/// What is left of the piece's function once the common coefficients are taken out: the same at all its points.
std::optional<Wide> constant_with(const fold::Piece& piece, std::size_t o, const std::vector<Coefficient>& common) {
  const fold::Output& output = piece.outputs[o];
  if (output.minimum == output.maximum && common == std::vector<Coefficient>(common.size(), 0)) return output.minimum;
  if (output.modulus != 0) return std::nullopt;
  Wide constant = output.value.constant;
  for (std::size_t k = 0; k < common.size(); ++k) {
    if (output.top[k] || !common[k]) return std::nullopt;
    const std::optional<std::int64_t> fixed = fixed_coordinate(piece, k);
    const Wide difference = output.value.coefficients[k] - static_cast<Wide>(*common[k]) * output.divisor;
    if (difference == 0) continue;
    if (!fixed || difference != static_cast<std::int64_t>(difference)) return std::nullopt;
    constant += difference * *fixed;
  }
  if (constant % output.divisor != 0) return std::nullopt;
  return constant / output.divisor;
}

Coefficient common_constant(const fold::Folded& folded, std::size_t o, const std::vector<Coefficient>& coefficients) {
  std::optional<Wide> common;
  for (const fold::Piece& piece : folded.pieces) {
    const std::optional<Wide> here = constant_with(piece, o, coefficients);
    if (!here || (common && *common != *here)) return std::nullopt;
    common = here;
  }
  const bool fits = common && *common >= std::numeric_limits<std::int64_t>::min() &&
                    *common <= std::numeric_limits<std::int64_t>::max();
  return fits ? Coefficient(static_cast<std::int64_t>(*common)) : std::nullopt;
}

}  // namespace

bool CommonFunction::affine() const {
  return std::all_of(coefficients.begin(), coefficients.end(), [](const Coefficient& c) { return c.has_value(); });
}

CommonFunction common_function(const fold::Folded& folded, std::size_t output, bool drop_first) {
  CommonFunction function;
  const std::size_t dimensions = folded.pieces.empty() ? 0 : folded.pieces.front().ranges.size();
  for (std::size_t k = 0; k < dimensions; ++k) function.coefficients.push_back(common_coefficient(folded, output, k));
  if (function.affine()) function.constant = common_constant(folded, output, function.coefficients);
  if (drop_first && dimensions > 0) function.coefficients.erase(function.coefficients.begin());
  return function;
}

std::vector<Coefficient> coefficients_of(const fold::Output& output, bool drop_first) {
  std::vector<Coefficient> coefficients;
  for (std::size_t k = drop_first ? 1 : 0; k < output.top.size(); ++k)
    coefficients.push_back(output.top[k] ? std::nullopt : Coefficient(output.value.coefficients[k]));
  return coefficients;
}

Extent extent_of(const fold::Folded& folded, std::size_t output) {
  Extent extent{folded.pieces.front().outputs[output].minimum, folded.pieces.front().outputs[output].maximum};
  for (const fold::Piece& piece : folded.pieces) {
    extent.minimum = std::min(extent.minimum, piece.outputs[output].minimum);
    extent.maximum = std::max(extent.maximum, piece.outputs[output].maximum);
  }
  return extent;
}

Extent distance_of(const fold::Folded& folded, std::size_t output) {
  const fold::Output& first = folded.pieces.front().outputs[output];
  Extent extent{first.distance_minimum, first.distance_maximum};
  for (const fold::Piece& piece : folded.pieces) {
    extent.minimum = std::min(extent.minimum, piece.outputs[output].distance_minimum);
    extent.maximum = std::max(extent.maximum, piece.outputs[output].distance_maximum);
  }
  return extent;
}

std::vector<bool> top_coordinates(const fold::Folded& folded) {
  std::vector<bool> result(folded.pieces.empty() ? 0 : folded.pieces.front().ranges.size(), false);
  for (const fold::Piece& piece : folded.pieces)
    for (const fold::Output& output : piece.outputs)
      for (std::size_t k = 0; k < result.size(); ++k) result[k] = result[k] || output.top[k];
  return result;
}

}  // namespace loopfold::poly
