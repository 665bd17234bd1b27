// The loop tree as a flame graph: one SVG file that needs nothing else. `loopfold flame --svg`.
//
// The root is at the bottom, as in POLY-PROF; a frame stands on the call or loop around it, and is as wide as its share
// of the instructions. Calls, loops and recursions differ in colour, in shape (loops have round corners) and in words.
// In a browser it is interactive (flame.js); as an image it is a static picture. Names are made inert and escaped, and
// the script puts them into text nodes only. The same profile gives the same bytes.
//
// Frames narrower than a tenth of a pixel are left out and counted, so the file is no larger than a screen can show,
// whatever the size of the tree: at most ten thousand frames per level.
#pragma once

#include "profile/profile.h"
#include "views/writer.h"

namespace loopfold::views {

/// False if the writer wanted no more.
bool write_flame_svg(const profile::Profile& profile, const Writer& write);

}  // namespace loopfold::views
