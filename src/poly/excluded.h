// What a user leaves out of the answer: `analyze --exclude init --exclude libz.so` (initialisation, libraries).
//
// A name stands for the functions of the loop tree that are called so (as in pure_calls.h), or that were inlined into a
// loop there, and for the files that code is in: by base name, with or without what follows ".so" ("libz.so" and "libz"
// stand for libz.so.1). All that runs below is left out with it: its nodes are marked, there are no regions in it, and
// nothing is suggested. A loop around it is judged as ever: what was left out still ran, and still carries values.
// Linear in the tree.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace loopfold::poly {

/// Marks what is left out in a profile that has its tree, and says so in its quality. The names that nothing has.
std::vector<std::string> exclude(std::span<const std::string> names, profile::Profile& profile);

/// Whether a file is meant by a name.
bool is_file(std::string_view module, std::string_view name);

}  // namespace loopfold::poly
