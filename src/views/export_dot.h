// The dependence graph for Graphviz: `loopfold export --format dot`.
//
// One box per statement (name, lines, how often), in a cluster per loop, recursion and call around it; one arrow for
// all dependences of one kind between two statements, with their distances and their number. Clusters nest as the loop
// tree does; what has no statement in it is left out. Names are inert and escaped.
#pragma once

#include "profile/profile.h"
#include "views/writer.h"

namespace loopfold::views {

/// False if `writer` did not want it.
bool write_dot(const profile::Profile& profile, const Writer& writer);

}  // namespace loopfold::views
