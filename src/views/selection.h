// Which nodes of a loop tree a view shows, and why not the others.
//
// Three filters: no deeper than so many levels, not below a share of the instructions, only below functions of a name.
// What is shown is closed upwards: with a node, the way to it is shown. One pass down and one up, linear.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace loopfold::views {

struct Filter {
  std::optional<std::uint32_t> depth;  // levels below the root; with `function`, below what was found
  double min_percent = 0.0;            // of the program's instructions; does not hide what `function` found
  std::string function;                // a part of the name; empty: all
};

enum class Fate : std::uint8_t {
  kShown,
  kWay,     // shown because something below it is
  kDeeper,  // hidden by `depth`
  kSmall,   // hidden by `min_percent`
  kOther,   // hidden by `function`
};

/// By node.
std::vector<Fate> select(const profile::Profile& profile, const Filter& filter);

inline bool is_shown(Fate fate) { return fate == Fate::kShown || fate == Fate::kWay; }

}  // namespace loopfold::views
