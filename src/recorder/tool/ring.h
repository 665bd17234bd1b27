// The target's end of the ring: where the inline stores go, and where the few out-of-line records are appended.
//
// While client code runs, the write pointer and the segment's end live in the running thread's shadow registers (one
// move off VEX's state pointer); the ring's own state holds them at all other times. ring_enter_client() and
// ring_leave_client() carry them over. A fault is handled by Valgrind while client code still counts as running, so
// whoever appends a record calls ring_leave_client() first; it does nothing the second time.
#pragma once

#include <cstdint>
#include <span>

#include "recorder/wire.h"
#include "valgrind.h"

namespace loopfold::tool {

/// Offsets in the shadow-1 guest state, relative to its start; any 8-byte register will do.
inline constexpr Int kShadowCursor = offsetof(VexGuestAMD64State, guest_RAX);
inline constexpr Int kShadowEnd = offsetof(VexGuestAMD64State, guest_RCX);
inline constexpr Int kShadowWatch = offsetof(VexGuestAMD64State, guest_RDX);
inline constexpr Int kShadowBase = sizeof(VexGuestAMD64State);

/// The guest state as generated code addresses it: real registers, then the shadow-1 copy.
struct GuestState {
  VexGuestAMD64State real;
  VexGuestAMD64State shadow;
  ULong& cursor() { return *reinterpret_cast<ULong*>(reinterpret_cast<char*>(&shadow) + kShadowCursor); }
  ULong& end() { return *reinterpret_cast<ULong*>(reinterpret_cast<char*>(&shadow) + kShadowEnd); }
  ULong& watch() { return *reinterpret_cast<ULong*>(reinterpret_cast<char*>(&shadow) + kShadowWatch); }
};

/// Bytes that every block's room check adds, so that a fault record fits behind an unfinished block.
inline constexpr UInt kReserveBytes = 32;

/// Maps the ring behind `ring_fd`; `alive_fd` is the read end of a pipe that the recording process holds open.
bool ring_start(Int ring_fd, Int alive_fd);

/// Records nothing from now on; the program goes on. Used when the recording process is gone or says stop, and in
/// forked children.
void ring_detach();
bool ring_attached();

/// In a forked child: lets go of the parent's ring altogether.
void ring_release();

/// After ring_detach(): drops the instrumented translations, so that the program runs faster from now on. Only where
/// Valgrind itself may do so, in the handling of a system call; until then they write to a scratch segment.
void ring_drop_translations();

void ring_enter_client(ThreadId tid, ULong watch);
/// Takes the pointers back, turns the record of a block that a fault stopped half-way into a kInterrupted record, and
/// publishes what was written. `block_of` tells which block an exit belongs to and how many words it writes.
void ring_leave_client(bool (*block_of)(UInt exit, UInt* base_exit, UInt* slots));

/// Appends a record of up to four spans of words; for use outside client code only.
void ring_append(UInt id, std::span<const ULong> words);

/// Appends a record from inside a helper called by client code.
void ring_append_from_client(GuestState* guest, UInt id, std::span<const ULong> words);

/// Like ring_append, but gives the place for `words` words to fill in; call ring_commit with the same arguments after.
ULong* ring_reserve(UInt words);
void ring_commit(UInt id, UInt words);

/// Publishes all that was appended and tells the reader whether more will come.
void ring_publish(bool finished);

}  // namespace loopfold::tool

/// Called by generated code when the segment has no room for the block that is about to run.
extern "C" void loopfold_segment_full(loopfold::tool::GuestState* guest);
