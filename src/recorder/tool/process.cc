// Environment: Valgrind adds LD_PRELOAD=…/vgpreload_core-amd64-linux.so (which only matters to tools that replace
// functions) and our launcher adds VALGRIND_LIB. Both are removed from the initial stack; the auxiliary vector behind
// the environment moves down with it, because the dynamic linker finds it by position.
//
// Children: a recording process for a forked child cannot be its child in the eyes of the program (wait() would see
// it), so it is cloned twice with no exit signal and execs the loopfold binary, which serves the ring until this
// process ends.
#include "process.h"

#include "ring.h"
#include "syscalls.h"

namespace loopfold::tool {

namespace {

bool is_variable(const HChar* entry, const HChar* name) {
  const SizeT length = VG_(strlen)(name);
  return VG_(strncmp)(entry, name, length) == 0 && entry[length] == '=';
}

/// Removes Valgrind's own libraries from the value of LD_PRELOAD, in place. False if nothing is left.
bool strip_preload(HChar* entry) {
  HChar* value = entry + VG_(strlen)("LD_PRELOAD=");
  HChar* to = value;
  for (HChar* from = value; *from != 0;) {
    HChar* end = from;
    while (*end != 0 && *end != ':') end++;
    const HChar saved = *end;
    *end = 0;
    const bool ours = VG_(strstr)(from, "/vgpreload_") != nullptr;
    const SizeT length = static_cast<SizeT>(end - from);
    if (!ours) {
      if (to != value) *to++ = ':';
      VG_(memmove)(to, from, length);
      to += length;
    }
    from = end + (saved != 0 ? 1 : 0);
  }
  *to = 0;
  return to != value;
}

bool keep_variable(HChar* entry) {
  if (is_variable(entry, "LD_PRELOAD")) return strip_preload(entry);
  return !is_variable(entry, "VALGRIND_LIB") && !is_variable(entry, "VALGRIND_LAUNCHER");
}

/// Decimal text of `value` behind `prefix`.
void format(HChar* to, SizeT size, const HChar* prefix, ULong value) {
  VG_(snprintf)(to, static_cast<Int>(size), "%s%llu", prefix, value);
}

constexpr ULong kWaitAll = 0x40000000;  // __WALL
constexpr ULong kMemfdCloseOnExec = 1;

/// A child of this process that sends no signal when it ends.
Long clone_silently() { return sys_call(__NR_clone, 0); }

/// A copy of the file descriptor that survives exec.
ULong inheritable(Int fd) { return static_cast<ULong>(sys_call(__NR_fcntl, static_cast<ULong>(fd), 0 /* F_DUPFD */)); }

[[noreturn]] void exit_now(Int status) {
  for (;;) sys_call(__NR_exit_group, static_cast<ULong>(status));
}

[[noreturn]] void become_recording_process(const Options& options, Int ring_fd, Int alive_fd, Int target) {
  HChar ring[48];
  HChar alive[48];
  HChar pid[48];
  sys_call(__NR_setsid);
  format(ring, sizeof ring, "--ring-fd=", inheritable(ring_fd));
  format(alive, sizeof alive, "--alive-fd=", inheritable(alive_fd));
  format(pid, sizeof pid, "--target=", static_cast<ULong>(target));
  HChar out[4096 + 32];
  VG_(snprintf)(out, sizeof out, "--out=%s.%d", options.out, target);
  const HChar* arguments[] = {options.launcher,      "serve-child",         ring,   alive, pid, out,
                              options.child_options, options.child_program, nullptr};
  const HChar* environment[] = {"PATH=/usr/bin:/bin", nullptr};
  sys_call(__NR_execve, reinterpret_cast<ULong>(options.launcher), reinterpret_cast<ULong>(arguments),
           reinterpret_cast<ULong>(environment));
  exit_now(127);
}

}  // namespace

void restore_environment(ThreadId tid) {
  auto* words = reinterpret_cast<UWord*>(VG_(get_SP)(tid));
  UWord* environment = words + 1 + words[0] + 1;
  UWord* to = environment;
  UWord* from = environment;
  const UWord* end = environment;
  while (*end != 0) end++;
  if (end + 1 != VG_(client_auxv)) return;  // not the stack that was expected: leave it alone
  for (; *from != 0; from++) {
    if (keep_variable(reinterpret_cast<HChar*>(*from))) *to++ = *from;
  }
  if (to == from) return;
  *to++ = 0;
  VG_(client_auxv) = to;
  // The two ranges overlap, so each entry is read whole before it is written.
  for (const UWord* auxiliary = from + 1;; auxiliary += 2, to += 2) {
    const UWord type = auxiliary[0];
    const UWord value = auxiliary[1];
    to[0] = type;
    to[1] = value;
    if (type == 0) break;
  }
}

bool record_forked_child(const Options& options) {
  if (options.launcher == nullptr || options.out == nullptr || options.child_options == nullptr) return false;
  const Long ring_fd = sys_call(__NR_memfd_create, reinterpret_cast<ULong>("loopfold-ring"), kMemfdCloseOnExec);
  if (ring_fd < 0) return false;
  Int alive[2];
  const ULong magic = wire::kMagic;
  if (sys_call(__NR_ftruncate, static_cast<ULong>(ring_fd), wire::kRingBytes) < 0 ||
      sys_call(__NR_pwrite64, static_cast<ULong>(ring_fd), reinterpret_cast<ULong>(&magic), 8, 0) != 8 ||
      VG_(pipe)(alive) != 0) {
    return false;
  }
  const Int target = VG_(getpid)();
  const Long middle = clone_silently();
  if (middle == 0) {
    if (clone_silently() == 0) become_recording_process(options, static_cast<Int>(ring_fd), alive[1], target);
    exit_now(0);
  }
  if (middle < 0) return false;
  sys_call(__NR_wait4, static_cast<ULong>(middle), 0, kWaitAll);
  VG_(close)(alive[1]);
  const Int safe_alive = VG_(safe_fd)(alive[0]);
  const Int safe_ring = VG_(safe_fd)(static_cast<Int>(ring_fd));
  return ring_start(safe_ring, safe_alive);
}

}  // namespace loopfold::tool
