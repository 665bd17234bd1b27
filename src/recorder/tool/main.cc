// The recorder: a Valgrind tool that writes down what a program does, and does nothing else.
//
// Per block execution: an exit id and the block's slots, by inline stores (instrument.cc). Per everything else that
// matters (thread, system call, mapping, signal, marker, watched function): one record, appended from the hooks below.
// All of it goes into one shared-memory ring (ring.cc, recorder/wire.h) that another process reads. No analysis, no
// allocation per event, no file.
//
// Order: Valgrind runs one thread at a time. act() notes who acts, so that the stream is the global order.
#include "instrument.h"
#include "modules.h"
#include "process.h"

namespace loopfold::tool {

namespace {

constinit Options options;
struct Thread {
  UInt number;  // dense, while Valgrind uses its ids again
  UInt parent;
  bool running;  // its creation may fail before it has run
};
constinit Thread* threads = nullptr;  // by Valgrind's id
constinit UInt thread_count = 0;
constinit UInt acting = ~0u;

// ---- threads ----

/// What is appended next is done by this thread.
void act(ThreadId tid) {
  ring_leave_client(block_of_exit);
  const UInt thread = threads[tid].number;
  if (thread == acting) return;
  acting = thread;
  const ULong words[] = {thread};
  ring_append(wire::kThread, words);
}

/// The thread on whose behalf the core acts now; at start-up none runs yet.
ThreadId current() {
  const ThreadId tid = VG_(get_running_tid)();
  return tid == VG_INVALID_THREADID ? 1 : tid;
}

void thread_created(ThreadId parent, ThreadId child) {
  threads[child].parent = parent == VG_INVALID_THREADID ? thread_count : threads[parent].number;
  threads[child].running = false;
  watch_thread_start(child);
}

/// Called in the new thread's own context.
void thread_runs_first(ThreadId tid) {
  threads[tid].number = thread_count++;
  threads[tid].running = true;
  act(tid);
  const ULong words[] = {threads[tid].number, threads[tid].parent, static_cast<ULong>(VG_(gettid)())};
  ring_append(wire::kThreadStart, words);
}

/// The first instruction of a thread is about to run; of the program, if it is the first thread.
void thread_first_instruction(ThreadId tid) {
  if (tid == 1 && !options.keep_preload) restore_environment(tid);
  thread_runs_first(tid);
}

void thread_ends(ThreadId tid) {
  if (!threads[tid].running) return;
  threads[tid].running = false;
  act(tid);
  const ULong words[] = {threads[tid].number};
  ring_append(wire::kThreadEnd, words);
}

void enter_client(ThreadId tid, ULong) {
  act(tid);
  ring_enter_client(tid, watch_of(tid));
}

void leave_client(ThreadId, ULong) { ring_leave_client(block_of_exit); }

// ---- system calls, memory, signals ----

void before_syscall(ThreadId tid, UInt number, UWord* arguments, UInt count) {
  act(tid);
  if (number == __NR_execve || number == __NR_execveat) {
    append_client_text(wire::kExec, {}, arguments[number == __NR_execve ? 0 : 1]);
  }
  ULong words[7] = {number};
  for (UInt i = 0; i < 6 && i < count; i++) words[1 + i] = arguments[i];
  ring_append(wire::kSyscallEnter, words);
  ring_publish(false);
}

void after_syscall(ThreadId tid, UInt number, UWord*, UInt, SysRes result) {
  ring_drop_translations();
  act(tid);
  const ULong value = sr_isError(result) ? -sr_Err(result) : sr_Res(result);
  const ULong words[] = {number, value};
  ring_append(wire::kSyscallReturn, words);
}

ULong cause_of(CorePart part) {
  if (part == Vg_CoreSysCall) return wire::kCauseSyscall;
  return part == Vg_CoreSignal ? wire::kCauseSignal : wire::kCauseOther;
}

void kernel_access(UInt record, CorePart part, ThreadId tid, Addr address, SizeT size) {
  if (size == 0 || part == Vg_CoreTranslate || part == Vg_CoreStartup) return;
  act(tid == VG_INVALID_THREADID ? current() : tid);
  const ULong words[] = {address, size, cause_of(part)};
  ring_append(record, words);
}

void kernel_reads(CorePart part, ThreadId tid, const HChar*, Addr address, SizeT size) {
  kernel_access(wire::kKernelRead, part, tid, address, size);
}

void kernel_reads_string(CorePart part, ThreadId tid, const HChar*, Addr address) {
  kernel_access(wire::kKernelRead, part, tid, address, readable_length(address) + 1);
}

void kernel_wrote(CorePart part, ThreadId tid, Addr address, SizeT size) {
  kernel_access(wire::kKernelWrite, part, tid, address, size);
}

ULong protection(Bool read, Bool write, Bool execute) {
  return (read ? 1u : 0u) | (write ? 2u : 0u) | (execute ? 4u : 0u);
}

void mapped(Addr address, SizeT size, Bool read, Bool write, Bool execute, ULong) {
  act(current());
  forget_modules(address, size);
  const ULong words[] = {address, size, protection(read, write, execute)};
  ring_append(wire::kMap, words);
}

void unmapped(Addr address, SizeT size) {
  act(current());
  forget_modules(address, size);
  const ULong words[] = {address, size};
  ring_append(wire::kUnmap, words);
}

void remapped(Addr from, Addr to, SizeT size) {
  act(current());
  const ULong words[] = {from, to, size};
  ring_append(wire::kRemap, words);
}

void protected_again(Addr address, SizeT size, Bool read, Bool write, Bool execute) {
  act(current());
  const ULong words[] = {address, size, protection(read, write, execute)};
  ring_append(wire::kProtect, words);
}

void break_grew(Addr address, SizeT size, ThreadId tid) {
  act(tid == VG_INVALID_THREADID ? current() : tid);
  const ULong words[] = {address, size, 1};
  ring_append(wire::kBreak, words);
}

void break_shrank(Addr address, SizeT size) {
  act(current());
  const ULong words[] = {address, size, 0};
  ring_append(wire::kBreak, words);
}

void signal_delivered(ThreadId tid, Int number, Bool alternate_stack) {
  act(tid);
  watch_signal_enter(tid, alternate_stack);
  const ULong words[] = {static_cast<ULong>(number), alternate_stack ? 1u : 0u};
  ring_append(wire::kSignalEnter, words);
}

void signal_returned(ThreadId tid, Int number) {
  act(tid);
  watch_signal_return(tid);
  const ULong words[] = {static_cast<ULong>(number)};
  ring_append(wire::kSignalReturn, words);
}

// ---- markers ----

constexpr UWord kMarkBegin = 'L' << 24 | 'F' << 16 | 1;
constexpr UWord kMarkEnd = 'L' << 24 | 'F' << 16 | 2;

Bool client_request(ThreadId tid, UWord* arguments, UWord* result) {
  if (arguments[0] != kMarkBegin && arguments[0] != kMarkEnd) return False;
  act(tid);
  const ULong words[] = {arguments[0] == kMarkBegin ? 1u : 0u};
  append_client_text(wire::kMark, words, arguments[1]);
  *result = 0;
  return True;
}

// ---- processes ----

void forked_child(ThreadId tid) {
  ring_release();
  ring_drop_translations();
  if (!options.follow_children) return;
  acting = ~0u;
  thread_count = 0;
  instrument_reset();
  forget_modules(0, ~SizeT{0});
  if (!record_forked_child(options)) return;
  thread_created(VG_INVALID_THREADID, tid);
  thread_runs_first(tid);
}

// ---- start and end ----

Bool option(const HChar* argument) {
  if (VG_INT_CLO(argument, "--lf-ring-fd", options.ring_fd)) return True;
  if (VG_INT_CLO(argument, "--lf-alive-fd", options.alive_fd)) return True;
  if (VG_INT_CLO(argument, "--lf-log-fd", options.log_fd)) return True;
  if (VG_BOOL_CLO(argument, "--lf-follow", options.follow_children)) return True;
  if (VG_BOOL_CLO(argument, "--lf-naive", options.naive)) return True;
  if (VG_BOOL_CLO(argument, "--lf-verify", options.verify)) return True;
  if (VG_BOOL_CLO(argument, "--lf-keep-preload", options.keep_preload)) return True;
  if (VG_STR_CLO(argument, "--lf-scope", options.scope)) return True;
  if (VG_STR_CLO(argument, "--lf-launcher", options.launcher)) return True;
  if (VG_STR_CLO(argument, "--lf-out", options.out)) return True;
  if (VG_STR_CLO(argument, "--lf-child-options", options.child_options)) return True;
  if (VG_STR_CLO(argument, "--lf-child-program", options.child_program)) return True;
  return False;
}

void usage() { VG_(printf)("    (started by `loopfold record`; see its --help)\n"); }

/// The process is named after the program, not after the recorder (ps, /proc/self/comm).
void take_programs_name() {
  HChar path[4096];
  VG_(client_fname)(path, sizeof path, True);
  VG_(prctl)(15 /* PR_SET_NAME */, reinterpret_cast<ULong>(VG_(basename)(path)), 0, 0, 0);
}

void started() {
  take_programs_name();
  functions_init(options);
  instrument_set_mode(options.verify ? SlotMode::kVerified : options.naive ? SlotMode::kNaive : SlotMode::kDerived);
  threads = static_cast<Thread*>(VG_(calloc)("loopfold.threads", VG_N_THREADS, sizeof(Thread)));
  if (options.log_fd >= 0) VG_(close)(options.log_fd);
  if (options.ring_fd < 0) return;
  const Int ring_fd = VG_(safe_fd)(options.ring_fd);
  const Int alive_fd = VG_(safe_fd)(options.alive_fd);
  if (!ring_start(ring_fd, alive_fd)) VG_(umsg)("cannot map the ring\n");
}

void ended(Int) {
  ring_leave_client(block_of_exit);
  ring_publish(true);
}

void init() {
  VG_(details_name)("Loopfold");
  VG_(details_version)(nullptr);
  VG_(details_description)("the recorder of Loopfold");
  VG_(details_copyright_author)("The Loopfold authors; links Valgrind (GPL-2+).");
  VG_(details_bug_reports_to)("the Loopfold project");
  VG_(details_avg_translation_sizeB)(500);
  VG_(basic_tool_funcs)(started, instrument, ended);
  VG_(needs_command_line_options)(option, usage, usage);
  VG_(needs_client_requests)(client_request);
  VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
  VG_(track_pre_thread_ll_create)(thread_created);
  VG_(track_pre_thread_first_insn)(thread_first_instruction);
  VG_(track_pre_thread_ll_exit)(thread_ends);
  VG_(track_start_client_code)(enter_client);
  VG_(track_stop_client_code)(leave_client);
  VG_(track_pre_mem_read)(kernel_reads);
  VG_(track_pre_mem_read_asciiz)(kernel_reads_string);
  VG_(track_post_mem_write)(kernel_wrote);
  VG_(track_new_mem_mmap)(mapped);
  VG_(track_die_mem_munmap)(unmapped);
  VG_(track_copy_mem_remap)(remapped);
  VG_(track_change_mem_mprotect)(protected_again);
  VG_(track_new_mem_brk)(break_grew);
  VG_(track_die_mem_brk)(break_shrank);
  VG_(track_pre_deliver_signal)(signal_delivered);
  VG_(track_post_deliver_signal)(signal_returned);
  VG_(atfork)(nullptr, nullptr, forked_child);
  instrument_init();
}

}  // namespace

}  // namespace loopfold::tool

extern "C" {
VG_DETERMINE_INTERFACE_VERSION(loopfold::tool::init)
}
