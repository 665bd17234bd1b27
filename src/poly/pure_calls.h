// Calls that a user declares pure: whatever they do to each other, they may be reordered (`analyze --pure rand`).
//
// A name stands for the functions of the loop tree that are called so, with their parameters ("f(int)") or without
// ("f", for all of that name). Inlined functions have no calls, and cannot be named. Linear in the tree.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poly/describe.h"
#include "profile/profile.h"

namespace loopfold::poly {

struct PureCalls {
  std::vector<bool> contexts;          // by context: a call of a pure function, or inside one; empty without names
  std::vector<std::string> unmatched;  // names that no function has
  std::uint64_t instructions = 0;      // that ran in them
};

/// The profile must have its tree.
PureCalls pure_calls(std::span<const std::string> names, const Context& context, const profile::Profile& profile);

/// Whether a function of the tree is meant by a name.
bool is_called(std::string_view function, std::string_view name);

}  // namespace loopfold::poly
