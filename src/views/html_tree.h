// The loop tree in columns, as the page's flame graph reads it: {"nodes": n, "left_out": m, "strings": [...], "parent":
// [...], ...}, one array per field and one entry per node that is kept.
//
// A hundred thousand nodes are a few megabytes before compression and well below one behind it: names are numbers of
// strings, parents are distances to the left, and most other columns are small numbers. Linear, but for choosing what
// is kept.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "profile/profile.h"
#include "views/words.h"

namespace loopfold::views {

/// The nodes to keep, increasing: all, or the `most` with most operations, which are closed under parents.
std::vector<std::uint32_t> kept_nodes(const profile::Profile& profile, std::size_t most);

nlohmann::ordered_json tree_document(const profile::Profile& profile, const Words& words, std::size_t most);

}  // namespace loopfold::views
