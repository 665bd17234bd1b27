// What `loopfold analyze` says at the end: how much of the run is known exactly, and what is not.
//
// A few lines, whatever the size of the profile: the program, one line per kind of element with the share of its
// instances that is known exactly, the largest things that were given up, and the next command. Names are inert.
#pragma once

#include <cstddef>
#include <string>

#include "profile/profile.h"
#include "views/text.h"

namespace loopfold::views {

struct SummaryOptions {
  Charset charset = Charset::kUnicode;
  std::size_t gave_up = 5;   // so many at the most
  std::string next_command;  // empty: none
};

std::string summary_text(const profile::Profile& profile, const SummaryOptions& options);

}  // namespace loopfold::views
