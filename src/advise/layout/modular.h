// Contraction of one array, dimension by dimension: which can go, and which be taken modulo a number.
//
// Contraction of values (contract.h) gives each statement a map of its own; someone who has an array in front of them
// writes `t[i % 2][j]` wherever it stands, the same for all statements. Such a map keeps elements apart that are alive
// at the same time if and only if no distance between two of them is a multiple of the moduli in every dimension; so
// all that is needed of a program is the set of these distances, and the answer is exact if that set is.
//
// Tried are, for each dimension, nothing of it, all of it, each modulus up to kMostModulus (fewer for many dimensions),
// and successive moduli (one more than the greatest distance among those that are 0 in the dimensions before, in every
// order of dimensions). What comes out has the fewest cells of all combinations of these; of equal ones, that which
// uses fewer dimensions. Cost: an emptiness test of isl for each combination that would be better than the last.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poly/isl.h"

namespace loopfold::layout {

constexpr std::int64_t kMostModulus = 8;
constexpr std::size_t kMostContracted = 4;  // dimensions

/// By dimension: 0 is all of it, 1 nothing, k modulo k.
using Moduli = std::vector<std::int64_t>;

struct ModularContraction {
  Moduli moduli;
  std::int64_t cells = 0;
  std::int64_t tried = 0;
};

/// No distance is a multiple of the moduli in every dimension. False also if isl gave up.
bool keeps_apart(const poly::Isl<isl_set>& distances, const Moduli& moduli);

std::int64_t cells_of(const Moduli& moduli, const std::vector<std::int64_t>& extents);

/// The fewest cells for elements of an array of these extents, given the distances (without the zero vector) between
/// those that are alive together. Nothing if no map with fewer cells than the array is legal, or it has too many
/// dimensions. Under the caller's budget.
std::optional<ModularContraction> contract_modulo(const poly::Isl<isl_set>& distances,
                                                  const std::vector<std::int64_t>& extents);

}  // namespace loopfold::layout
