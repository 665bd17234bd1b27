// A profile as unions of isl sets and maps, in a file that iscc reads: `loopfold export --format isl`.
//
//     Domain := { S0[]; S1[i0] : 0 <= i0 <= 9 };
//     Read := { S1[i0] -> O2[0, 8i0] : 0 <= i0 <= 9 };     block ordinal and byte offset of a cell of an object
//     Write, Register, Memory, Control, Environment        dependences go from producer to consumer
//
// Between `:=` and `;` of each definition stands what isl_union_set_read_from_str or isl_union_map_read_from_str takes;
// comments (#) say where in the source a statement is, what an object is, and what is not exact. Domains and
// dependences are those of the profile, word for word. An access is made from the functions of its pieces: exact where
// they are; an output that is not affine is bounded by its minimum and maximum over the whole access, so that the map
// contains every access that was made.
#pragma once

#include <string>

#include "profile/profile.h"
#include "views/writer.h"

namespace loopfold::views {

/// False if `writer` did not want it.
bool write_isl(const profile::Profile& profile, const Writer& writer);

/// The map of one access, "{ S1[i0] -> O2[0, 8i0] : ... }".
std::string access_map(const profile::Profile& profile, const profile::Access& access);

}  // namespace loopfold::views
