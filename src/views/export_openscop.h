// Regions as OpenScop, the format that polyhedral tools exchange: `loopfold export --format openscop`.
//
// One <OpenScop> document per region of which everything is exact: domains, accesses, and the flows that are not
// through memory. Other regions are left out, with the reason in a comment. There are no parameters: all bounds are
// those of the run. A statement has its domain, its place in the order as written (written_order.h) and its accesses.
//
// Arrays are the objects of the profile. If all accesses of a region to an object have one size and are aligned to it,
// its elements are of that size; else they are bytes, and an access touches a range of them. Values that go through
// registers (and decisions) are arrays as well, R<n> of what statement S<n> made, written once: a tool that computes
// dependences from accesses finds exactly the flows of the profile. Left out, as POLY-PROF does, are flows of integers
// that are affine functions of the counters: loop counters and addresses. Cost: isl on every access, each small.
#pragma once

#include <cstddef>

#include "profile/profile.h"
#include "views/writer.h"

namespace loopfold::views {

struct OpenScopCounts {
  std::size_t written = 0;   // regions
  std::size_t left_out = 0;  // regions
};

OpenScopCounts write_openscop(const profile::Profile& profile, const Writer& writer);

}  // namespace loopfold::views
