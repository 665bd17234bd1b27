// The loop tree in the file format of speedscope (https://www.speedscope.app): `loopfold flame --speedscope`.
//
// One profile of type "evented": every frame is opened and closed at a number of instructions, in the order of the
// tree, what is a frame's own after what it calls (layout.h). So the file is linear in the tree, however deep it is.
// Frames of the same name and place are one. Numbers above 2^53 lose their last digits in viewers, not in the file.
#pragma once

#include "profile/profile.h"
#include "views/writer.h"

namespace loopfold::views {

/// False if the writer wanted no more.
bool write_speedscope(const profile::Profile& profile, const Writer& write);

}  // namespace loopfold::views
