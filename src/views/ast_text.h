// The nests of a profile's regions as text: simplified and annotated, or complete. `loopfold ast`.
//
// Each region has a comment with its number and place, then its program. What cannot be shown has the reason in its
// place: a region that was given up on, one without a better order, one that is too large for a complete program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profile/profile.h"
#include "views/text.h"

namespace loopfold::views {

struct AstOptions {
  std::optional<std::uint32_t> region;  // none: all of them
  bool transformed = false;
  bool full = false;
  Charset charset = Charset::kUnicode;
};

/// `profile` must have everything in it (profile::Parts::kAll).
std::string ast_text(const profile::Profile& profile, const AstOptions& options);

}  // namespace loopfold::views
