// Recognises the functions that recording depends on, and follows their activations per thread.
//
// Per thread there is a small stack of entered functions, with a bound: main, the function of --from/--only (outermost
// activation only), one hidden function (allocator or resolver; what it calls is not looked at), and the same again in
// each nested signal handler. A handler starts with an empty view, behind a mark whose watch is the interrupted stack
// pointer: a siglongjmp out of the handler passes it. On an alternate stack, which may lie above, it must also leave
// that stack.
#include "functions.h"

namespace loopfold::tool {

namespace {

struct Entered {
  UInt function;
  ULong watch;           // the stack pointer once it has returned
  ULong return_address;  // 0 for a handler's mark
  ULong out_pointer;     // posix_memalign: where the result is stored
  ULong stack_start;     // a handler's alternate stack, if it has one
  ULong stack_end;
};

constexpr UInt kMaxEntered = 32;
constexpr UInt kSignalMark = ~0u;

struct ThreadWatch {
  Entered entered[kMaxEntered];
  UInt depth;
};

constinit ThreadWatch* threads = nullptr;
constinit const HChar* scope_name = nullptr;
constinit Addr main_address = 0;
constinit bool main_known = false;

struct Name {
  const HChar* name;
  UInt function;
};

constexpr Name kAllocators[] = {
    {"malloc", wire::kFunctionMalloc},
    {"calloc", wire::kFunctionCalloc},
    {"realloc", wire::kFunctionRealloc},
    {"reallocarray", wire::kFunctionReallocArray},
    {"memalign", wire::kFunctionMemalign},
    {"aligned_alloc", wire::kFunctionMemalign},
    {"posix_memalign", wire::kFunctionPosixMemalign},
    {"valloc", wire::kFunctionValloc},
    {"pvalloc", wire::kFunctionValloc},
    {"free", wire::kFunctionFree},
    {"cfree", wire::kFunctionFree},
};

bool equal(const HChar* a, const HChar* b) { return VG_(strcmp)(a, b) == 0; }

bool starts_with(const HChar* text, const HChar* prefix) {
  return VG_(strncmp)(text, prefix, VG_(strlen)(prefix)) == 0;
}

/// glibc gives its functions several names; which one a symbol table lists first is chance.
const HChar* without_glibc_prefix(const HChar* name) {
  if (starts_with(name, "__GI_")) name += 5;
  if (starts_with(name, "__libc_")) return name + 7;
  if (starts_with(name, "___")) return name + 3;
  if (starts_with(name, "__")) return name + 2;
  return name;
}

/// Are these the parameters of one of the standard's replaceable operators? Placement forms and a program's own
/// (arenas) allocate nothing.
bool standard_parameters(const HChar* parameters, const HChar* first) {
  if (!starts_with(parameters, first)) return false;
  const HChar* at = parameters + VG_(strlen)(first);
  static constexpr const HChar* kFurther[] = {", std::nothrow_t const&", ", std::align_val_t", ", unsigned long"};
  for (bool found = true; found && *at != ')';) {
    found = false;
    for (const HChar* further : kFurther) {
      if (!starts_with(at, further)) continue;
      at += VG_(strlen)(further);
      found = true;
    }
  }
  return equal(at, ")");
}

UInt allocator(const HChar* name) {
  for (const HChar* prefix : {"operator new", "operator new[]"}) {
    if (!starts_with(name, prefix) || !standard_parameters(name + VG_(strlen)(prefix), "(unsigned long")) continue;
    return VG_(strstr)(name, "align_val_t") != nullptr ? wire::kFunctionNewAligned : wire::kFunctionNew;
  }
  for (const HChar* prefix : {"operator delete", "operator delete[]"}) {
    if (starts_with(name, prefix) && standard_parameters(name + VG_(strlen)(prefix), "(void*")) {
      return wire::kFunctionDelete;
    }
  }
  name = without_glibc_prefix(name);
  for (const Name& known : kAllocators) {
    if (equal(name, known.name)) return known.function;
  }
  return 0;
}

/// Is `name`, a demangled function name, meant by the function of --from or --only? `int ns::f<T>(int)` is meant by
/// itself and by `ns::f<T>(int)`, `ns::f<T>`, `ns::f` and `f`; `f.constprop.0` and the compiler's other clones by `f`.
bool names_scope(const HChar* name) {
  if (scope_name == nullptr) return false;
  const SizeT wanted = VG_(strlen)(scope_name);
  const SizeT whole = VG_(strlen)(name);
  SizeT parameters = whole;  // where "(int)" starts
  SizeT arguments = whole;   // where "<T>(int)" starts
  Int depth = 0;
  for (SizeT i = 0; i < whole && parameters == whole; i++) {
    if (name[i] == '<' && depth++ == 0) arguments = i;
    if (name[i] == '>') depth--;
    if (name[i] == ':' && depth == 0) arguments = whole;  // those were arguments of the enclosing class
    if (name[i] == '(' && depth == 0 && i > 0) parameters = i;
  }
  SizeT clone = whole;  // where ".constprop.0" starts
  for (SizeT i = 1; i < whole && clone == whole; i++) {
    if (name[i] == '.' && !starts_with(name + i, ".cold")) clone = i;
  }
  for (const SizeT end : {whole, parameters, arguments < parameters ? arguments : parameters, clone}) {
    if (end < wanted || VG_(strncmp)(name + end - wanted, scope_name, wanted) != 0) continue;
    if (end == wanted || name[end - wanted - 1] == ':' || name[end - wanted - 1] == ' ') return true;
  }
  return false;
}

/// The resolver saves every register it may clobber in an area aligned to 64 bytes: push rbx; mov rbx,rsp; and rsp,-64.
/// ld.so may have no symbols, so this is how it is recognised; it is entered by a jump from the PLT and nowhere else.
bool is_resolver_code(Addr address) {
  static constexpr UChar kPrologue[] = {0x53, 0x48, 0x89, 0xe3, 0x48, 0x83, 0xe4, 0xc0};
  const NSegment* segment = VG_(am_find_nsegment)(address);
  if (segment == nullptr || address + 16 > segment->end) return false;
  const UChar* code = reinterpret_cast<const UChar*>(address);
  if (starts_with(reinterpret_cast<const HChar*>(code), "\xf3\x0f\x1e\xfa")) code += 4;
  for (SizeT i = 0; i < sizeof kPrologue; i++) {
    if (code[i] != kPrologue[i]) return false;
  }
  const HChar* file = VG_(am_get_filename)(segment);
  return file != nullptr && starts_with(VG_(basename)(file), "ld-");
}

bool is_program_code(Addr address) {
  const NSegment* segment = VG_(am_find_nsegment)(address);
  return segment != nullptr && segment->kind == SkFileC && segment->hasX;
}

Addr auxiliary_value(UWord key) {
  for (const UWord* entry = VG_(client_auxv); entry != nullptr && entry[0] != 0; entry += 2) {
    if (entry[0] == key) return entry[1];
  }
  return 0;
}

bool inside_hidden(const ThreadWatch& thread) {
  if (thread.depth == 0) return false;
  const UInt top = thread.entered[thread.depth - 1].function;
  return top == wire::kFunctionResolver || (top >= wire::kFunctionMalloc && top != kSignalMark);
}

bool inside(const ThreadWatch& thread, UInt function) {
  for (UInt i = 0; i < thread.depth; i++) {
    if (thread.entered[i].function == function) return true;
  }
  return false;
}

/// Handlers that were left by longjmp leave marks that nothing pops.
void drop_oldest_mark(ThreadWatch& thread) {
  UInt at = 0;
  while (at + 1 < thread.depth && thread.entered[at].function != kSignalMark) at++;
  for (UInt i = at; i + 1 < thread.depth; i++) thread.entered[i] = thread.entered[i + 1];
  thread.depth--;
}

ULong top_watch(const ThreadWatch& thread) {
  return thread.depth == 0 ? kNoWatch : thread.entered[thread.depth - 1].watch;
}

/// 0 if it was left by an exception or longjmp: then control does not go on behind the call.
ULong result_of(const Entered& entered, const GuestState* guest, Addr target) {
  if (target != entered.return_address) return 0;
  if (entered.function != wire::kFunctionPosixMemalign) return guest->real.guest_RAX;
  const bool readable = VG_(am_is_valid_for_client)(entered.out_pointer, 8, VKI_PROT_READ);
  return guest->real.guest_RAX == 0 && readable ? *reinterpret_cast<const ULong*>(entered.out_pointer) : 0;
}

}  // namespace

void functions_init(const Options& options) {
  scope_name = options.scope;
  threads = static_cast<ThreadWatch*>(VG_(calloc)("loopfold.watch", VG_N_THREADS, sizeof(ThreadWatch)));
}

UInt function_at(Addr address) {
  if (main_known && address == main_address) return wire::kFunctionMain;
  const HChar* name = nullptr;
  if (VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), address, &name)) {
    if (names_scope(name)) return wire::kFunctionScope;
    if (starts_with(name, "_dl_runtime_resolve")) return wire::kFunctionResolver;
    const UInt function = allocator(name);
    if (function != 0) return function;
    if (!main_known && equal(name, "main")) return wire::kFunctionMain;
  }
  return is_resolver_code(address) ? UInt{wire::kFunctionResolver} : 0;
}

bool wants_program_entry(Addr address) { return !main_known && address == auxiliary_value(9 /* AT_ENTRY */); }

void watch_thread_start(ThreadId tid) { threads[tid].depth = 0; }

void watch_signal_enter(ThreadId tid, bool alternate_stack) {
  ThreadWatch& thread = threads[tid];
  if (thread.depth == kMaxEntered) drop_oldest_mark(thread);
  Entered& mark = thread.entered[thread.depth++];
  mark = Entered{kSignalMark, VG_(get_SP)(tid), 0, 0, 0, 0};
  if (!alternate_stack) return;
  mark.stack_start = VG_(thread_get_altstack_min)(tid);
  mark.stack_end = mark.stack_start + VG_(thread_get_altstack_size)(tid);
}

void watch_signal_return(ThreadId tid) {
  ThreadWatch& thread = threads[tid];
  while (thread.depth > 0) {
    thread.depth--;
    if (thread.entered[thread.depth].function == kSignalMark) return;
  }
}

ULong watch_of(ThreadId tid) { return top_watch(threads[tid]); }

}  // namespace loopfold::tool

using namespace loopfold;
using namespace loopfold::tool;

void loopfold_program_entered(GuestState* guest) {
  const Addr candidate = guest->real.guest_RDI;
  if (main_known || !is_program_code(candidate)) return;
  main_known = true;
  main_address = candidate;
}

void loopfold_function_enter(GuestState* guest, ULong function) {
  ThreadWatch& thread = threads[VG_(get_running_tid)()];
  if (inside_hidden(thread)) return;
  if (thread.depth == kMaxEntered) drop_oldest_mark(thread);
  const bool once = function == wire::kFunctionMain || function == wire::kFunctionScope;
  if (once && inside(thread, static_cast<UInt>(function))) return;
  const ULong sp = guest->real.guest_RSP;
  const ULong return_address = *reinterpret_cast<const ULong*>(sp);
  // The resolver is jumped to with two words pushed on top of the return address of the call being resolved.
  const ULong watch = function == wire::kFunctionResolver ? sp + 16 : sp + 8;
  thread.entered[thread.depth++] =
      Entered{static_cast<UInt>(function), watch, return_address, guest->real.guest_RDI, 0, 0};
  guest->watch() = watch;
  const ULong words[] = {
      function, sp, return_address, guest->real.guest_RDI, guest->real.guest_RSI, guest->real.guest_RDX};
  ring_append_from_client(guest, wire::kFunctionEnter, words);
}

void loopfold_function_leave(GuestState* guest, ULong target) {
  ThreadWatch& thread = threads[VG_(get_running_tid)()];
  const ULong sp = guest->real.guest_RSP;
  while (thread.depth > 0 && top_watch(thread) <= sp) {
    const Entered& entered = thread.entered[thread.depth - 1];
    if (entered.stack_start <= sp && sp < entered.stack_end) break;  // still in the handler
    thread.depth--;
    if (entered.function == kSignalMark) continue;
    const ULong words[] = {entered.function, result_of(entered, guest, target),
                           target == entered.return_address ? 1u : 0u};
    ring_append_from_client(guest, wire::kFunctionLeave, words);
  }
  guest->watch() = top_watch(thread);
}
