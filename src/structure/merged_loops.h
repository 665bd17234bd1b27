// Loops that share a header, told apart.
//
//     for (k = 0; k < n; k++) {            where n > 0 is tested once, both ways back lead to the block of s += ...:
//       for (i = 0; i < m; i++) s += ...   for the loop-nesting forest that is one loop, whose iterations are now one
//       ...                                of i, now one of k. Nothing in it is affine.
//     }
//
// Two loops in one are told apart where control shows them: some ways back (the inner ones) come from a part of the
// loop that is entered at the header only and holds none of the others; from each of them control can also go on with
// what follows the inner loop (a `continue` goes on with the next iteration, or ends the loop); and how often control
// takes an inner one between two of the others is even: as often as the last time, or as much more often as the time
// before, or as often as in the last entry of the loop. What looks alike otherwise takes its ways back as data will
// have it. The inner loop keeps the header. The outer one gets a node of the graph that nothing runs at, a *gate*, and
// whoever comes to the header from outside of the inner loop comes through the gate. So everything behind the graph has
// two loops.
//
// It is another name for the same iterations, as splits are (splits.h): nothing is claimed by it.
#pragma once

#include <cstddef>

#include "structure/structure.h"
#include "trace/reader.h"

namespace loopfold::structure {

/// Reads the trace, control only, as far as it takes to know; not at all where no loop may be two. How many were told
/// apart: forests are those of the new graphs then. For a structure whose loops were found, and not used yet. `evenly`:
/// as above; else all that may be two are taken for two, which is for tests.
std::size_t separate_loops(const trace::Reader& reader, Structure& structure, bool evenly = true);

}  // namespace loopfold::structure
