// Re-proves what a profile claims, by replaying the trace: every loop that it calls parallel or a reduction, every
// reason that it names for a no, every order that it calls legal.
//
// The profile is only asked what it claims. Loops, values and dependences are found anew from the trace, by brute force
// (replay.h, judge.h, schedule.h), in several replays: data decide over copies in some loops, which is known only once
// values have been followed; so values are followed again with what was found, until nothing new is found.
#pragma once

#include <cstdint>
#include <functional>

#include "profile/profile.h"
#include "support/result.h"
#include "trace/reader.h"
#include "verify/report.h"

namespace loopfold::verify {

struct Options {
  std::function<void(double, std::uint64_t)> progress;  // the share that is done, 0..1, and instructions
};

/// An Error if the profile is not one of this trace.
Result<Report> verify(const trace::Reader& reader, const profile::Profile& profile, const Options& options);

}  // namespace loopfold::verify
