// Valgrind's tool interface, included the one way that works from C++.
#pragma once

extern "C" {
#include "pub_tool_basics.h"
}
#include "pub_tool_vki.h"
extern "C" {
#include "libvex_guest_amd64.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vkiscnums.h"

// In the core library, but not in the tool headers.
extern VexControl VG_(clo_vex_control);
extern UWord* VG_(client_auxv);
extern void VG_(discard_translations)(Addr start, ULong range, const HChar* who);
extern Int VG_(safe_fd)(Int oldfd);
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd, Off64T offset);
extern Bool VG_(lookup_symbol_SLOW)(DiEpoch ep, const HChar* sopatt, const HChar* name, void* avmas);
}
