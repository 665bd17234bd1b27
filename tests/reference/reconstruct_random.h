// Random affine nests, for tests of reconstruction.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "reconstruct/nest.h"

namespace loopfold::reconstruct::reference {

struct RandomNest {
  std::size_t depth = 3;
  std::int64_t most_trips = 6;
  std::uint64_t most_addresses = 4000;
  int coefficients = 0;  // 0: like arrays, rows longer than trips; 1: small numbers; 2: any, also 0 and negative
  bool triangular = true;
  bool empties = false;  // loops may end because one inside would be empty
};

/// A nest of this kind whose loops all have a second iteration somewhere.
Nest random_nest(std::mt19937_64& random, const RandomNest& kind);

/// All its addresses, by loops that are as plain as can be (no NestWalk).
std::vector<std::uint64_t> addresses_of(const Nest& nest);

}  // namespace loopfold::reconstruct::reference
