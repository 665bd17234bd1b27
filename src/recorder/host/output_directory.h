// The directory that a recording goes to.
#pragma once

#include <string>

#include "support/result.h"

namespace loopfold::recorder {

/// Makes `directory` ready for a new trace: creates it (and its parents), takes it if it is empty, or moves an earlier
/// trace out of the way to `directory`.old (replacing one that is there already). Anything else is left alone and is an
/// Error.
Result<void> prepare_output(const std::string& directory);

}  // namespace loopfold::recorder
