// Keeps superblocks to basic blocks: no block runs over an address at which another one starts.
//
// Valgrind translates from wherever control arrives, so a loop that is entered by falling into it is first seen as
// [preheader + body], and from the second iteration on as [body]. Every address where a block starts is a *leader*, and
// so is a target of a block's own branches inside it. A block is cut in front of the next leader; and when a new leader
// turns up inside a block that was translated before, that translation is dropped, to be made again and cut.
#pragma once

#include "valgrind.h"

namespace loopfold::tool {

/// A block at `address` is about to be translated.
void leader_found(Addr address);

/// A branch inside a block goes here; no translation is dropped.
void leader_known(Addr address);

bool is_leader(Addr address);

/// An instruction inside a translated block, not its first.
void instruction_inside(Addr address);

}  // namespace loopfold::tool
