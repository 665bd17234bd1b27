// Turns a superblock of VEX IR into one that records itself.
#pragma once

#include "functions.h"

namespace loopfold::tool {

void instrument_init();

enum class SlotMode {
  kDerived,   // one slot per independent linear part
  kNaive,     // one slot for every value
  kVerified,  // as kNaive, and the description says how each could have been derived
};
void instrument_set_mode(SlotMode mode);

/// Ids are given out anew (a forked child starts a trace of its own).
void instrument_reset();

/// The tool's instrumentation function (see VG_(basic_tool_funcs)).
IRSB* instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout, const VexGuestExtents* extents,
                 const VexArchInfo* host, IRType guest_word, IRType host_word);

/// The base exit of the block that has this exit, and how many words it writes if it runs to its end. False if there is
/// no such exit.
bool block_of_exit(UInt exit, UInt* base_exit, UInt* slots);

}  // namespace loopfold::tool
