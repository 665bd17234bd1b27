// The flow of values between the statements of a kernel as profile.json has it: a second, smaller way to compare, which
// also tests the texts that users and other tools read.
//
// Only flow through memory that is not on the stack, and only between instances: nothing is composed. It equals the
// static flow through arrays where the compiler left all accesses in their loops.
#pragma once

#include <isl/cpp.h>

#include <string>

#include "description.h"
#include "support/result.h"

namespace loopfold::oracle {

struct ProfileFlow {
  isl::union_set domains;
  isl::union_map flow;
  bool exact = true;  // the profile says so of everything that was used
};

/// Of DIRECTORY/profile.json.
Result<ProfileFlow> profile_flow(isl::ctx context, const std::string& directory, const Description& description);

}  // namespace loopfold::oracle
