// The loop tree as collapsed stacks, the format of flamegraph.pl and of many viewers: `loopfold flame --collapsed`.
//
// A line is a stack, root first, frames separated by `;`, then a space and the instructions that are the innermost
// frame's own. Contexts that have the same names all the way (a function called from two places in one line, copies of
// a loop) are one stack. Names are inert text; `;` and spaces at the ends of a name are escaped as well.
//
// Frames are repeated in every line: the text is as long as the tree is deep times wide. It is written piece by piece.
#pragma once

#include "profile/profile.h"
#include "views/writer.h"

namespace loopfold::views {

/// False if the writer wanted no more.
bool write_collapsed(const profile::Profile& profile, const Writer& write);

}  // namespace loopfold::views
