// From a directory to a profile: what every view of the loop tree starts with.
#pragma once

#include <optional>
#include <string>

#include "profile/profile.h"
#include "support/result.h"

namespace loopfold::cli {

struct StructureOptions {
  bool quiet = false;  // no progress, no remarks
  bool stats = false;  // counts and times on stderr
  bool warn = false;   // about modules that are gone or have changed, where the view itself does not say it
};

/// DIR/profile.json, if it is there and not older than the trace.
std::optional<std::string> fresh_profile(const std::string& directory);

/// The profile of DIR: read from DIR/profile.json if there is one, else found from DIR/trace.lft: then with
/// the loop tree only, which is much less work than the whole analysis (cli/analysis.h), and not kept.
Result<profile::Profile> profile_of(const std::string& directory, const StructureOptions& options);

}  // namespace loopfold::cli
