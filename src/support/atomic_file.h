// A file that is there as a whole or not at all.
//
// The text goes into a temporary file beside it, which then takes its name. Whatever goes wrong (no space, no
// permission), the file that was there before stays as it was, and nothing half-written is left. A device, a pipe or
// anything else that is not a regular file is written to directly.
#pragma once

#include <string>
#include <string_view>

#include "support/result.h"

namespace loopfold {

/// An Error of kind kEnvironment if it cannot be written: "PATH: cannot be written: why".
Result<void> write_whole_file(const std::string& path, std::string_view text);

}  // namespace loopfold
