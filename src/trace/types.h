// What a trace says: the data that the recorder produces and every later stage consumes.
//
// A trace is a set of static descriptions (modules, blocks with their exits, call stacks) and, per thread, a sequence
// of *events*: "this block ran and left by this exit, with these slot values". An event costs nothing but an exit id
// and a few 64-bit slots; everything else about it (instructions, addresses, integer results, how control left) is
// computed from the block's description. What is not the execution of a block (allocations, system calls, signals,
// markers, thread starts) is a *side event* that stands between two events of its thread.
//
// Order. Valgrind runs one thread at a time, so there is a global order. A *slice* is a stretch of time in which one
// thread acts; slices are numbered from 0 over the whole run. Within a slice, events and side events are ordered by
// position: a side event at position p happens after the thread's first p events and before the next one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trace/exit_kind.h"

namespace loopfold::trace {

using BlockId = std::uint32_t;
using ExitId = std::uint32_t;
using ThreadId = std::uint32_t;  // dense, in order of creation; 0 is the main thread
using StackId = std::uint32_t;   // index into the call stacks; kNoStack if unknown
using ModuleId = std::uint32_t;

inline constexpr StackId kNoStack = 0xffffffff;
inline constexpr std::uint32_t kNoSlot = 0xffffffff;

/// A file that was mapped as code: `address - load_bias` is an address in the ELF file.
struct Module {
  std::string path;
  std::string build_id;         // lower-case hex, empty if the file has none or could not be read
  std::uint64_t start = 0;      // first mapped address of the executable segment
  std::uint64_t size = 0;       // of the executable segment
  std::uint64_t load_bias = 0;  // what was added to the file's virtual addresses
  bool main_program = false;
};

/// Where an address or integer result of a block comes from.
struct Value {
  enum class Kind : std::uint8_t { kNone, kSlot, kConstant, kExpression };
  Kind kind = Kind::kNone;
  std::uint64_t data = 0;  // kSlot: the slot's index in the event; kConstant: the value; kExpression: index in the
                           // block's expressions

  static Value slot(std::uint32_t index) { return {Kind::kSlot, index}; }
  static Value constant(std::uint64_t value) { return {Kind::kConstant, value}; }
  static Value expression(std::uint32_t index) { return {Kind::kExpression, index}; }
  friend bool operator==(const Value&, const Value&) = default;
};

/// A value computed from slots: extend(constant + sum of coefficient * operand), all modulo 2^64.
struct Expression {
  enum class Extend : std::uint8_t { kNone, kZero8, kZero16, kZero32, kSign8, kSign16, kSign32 };
  struct Term {
    Value operand;  // a slot, or an expression with a smaller index
    std::uint64_t coefficient = 1;
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;  // at most kMaxTerms
  std::uint64_t constant = 0;
  Extend extend = Extend::kNone;  // keep the low bits, then extend them to 64
  friend bool operator==(const Expression&, const Expression&) = default;
};
inline constexpr std::size_t kMaxTerms = 4;

/// One memory access of an instruction. A guarded access whose address is 0 did not happen.
struct Access {
  enum class Kind : std::uint8_t { kLoad, kStore };
  std::uint16_t instruction = 0;  // index in the block
  Kind kind = Kind::kLoad;
  bool guarded = false;
  bool atomic = false;  // half of a compare-and-swap: load and store of one cell
  std::uint32_t size = 0;
  Value address;
  friend bool operator==(const Access&, const Access&) = default;
};

/// One integer result: a value put to a general register, zero-extended from `width` bytes.
struct IntegerResult {
  std::uint16_t instruction = 0;  // index in the block
  std::uint8_t reg = 0;           // 0 = rax, 1 = rcx, 2 = rdx, 3 = rbx, 4 = rsp, ... 15 = r15 (hardware numbers)
  std::uint8_t byte = 0;          // first byte written: 1 for ah, ch, dh, bh, else 0
  std::uint8_t width = 0;         // bytes written: 1, 2, 4, 8
  Value value;
  friend bool operator==(const IntegerResult&, const IntegerResult&) = default;
};

/// One way out of a block. The counts say which prefix of the block's lists belongs to an execution that left here.
struct Exit {
  ExitId id = 0;
  BlockId block = 0;
  ExitKind kind = ExitKind::kNext;
  std::uint16_t instructions = 0;
  std::uint16_t accesses = 0;
  std::uint16_t results = 0;
  std::uint16_t slots = 0;
  std::optional<std::uint64_t> target;  // where control goes, if that is fixed
  Value stack_pointer;                  // rsp after the exit's instruction: calls, returns, indirect jumps; else kNone
  friend bool operator==(const Exit&, const Exit&) = default;
};

/// A straight piece of guest code, canonical by address, bytes and description.
struct Block {
  BlockId id = 0;
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> lengths;  // of the instructions, in order; they add up to bytes.size(). A marker's
                                      // preamble counts as one instruction of 19 bytes
  std::vector<Access> accesses;       // in the order of execution
  std::vector<IntegerResult> results;
  std::vector<Expression> expressions;
  Value ftop;  // x87 top-of-stack at entry, if the block uses x87 registers
  friend bool operator==(const Block&, const Block&) = default;
};

/// Return addresses, innermost first. At most kMaxStackDepth frames are kept.
using CallStack = std::vector<std::uint64_t>;
inline constexpr std::size_t kMaxStackDepth = 16;

// ---- Side events -----------------------------------------------------------------------------------------------

struct ThreadStart {
  ThreadId parent = 0;  // itself for the main thread
  std::uint64_t kernel_id = 0;
  friend bool operator==(const ThreadStart&, const ThreadStart&) = default;
};

struct ThreadEnd {
  friend bool operator==(const ThreadEnd&, const ThreadEnd&) = default;
};

/// Recording began or ended (for all threads) at this point: `main` entered, a function of --only left, a limit
/// reached.
struct Recording {
  bool on = false;
  friend bool operator==(const Recording&, const Recording&) = default;
};

/// A call of an allocation function, insides hidden. Stands where its blocks would have stood.
struct Allocation {
  enum class Function : std::uint8_t { kMalloc, kCalloc, kRealloc, kMemalign, kFree, kNew, kDelete };
  Function function = Function::kMalloc;
  std::uint64_t address = 0;      // the new block; 0 for kFree and kDelete, or if it failed
  std::uint64_t size = 0;         // in bytes (calloc: the product)
  std::uint64_t alignment = 0;    // kMemalign and aligned new, else 0
  std::uint64_t old_address = 0;  // what kFree, kDelete and kRealloc were given
  StackId stack = kNoStack;
  std::uint64_t hidden_instructions = 0;
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

/// Instructions that ran here and are counted but not shown.
struct Hidden {
  enum class Reason : std::uint8_t { kResolver, kLibrary };
  Reason reason = Reason::kResolver;
  std::uint64_t instructions = 0;
  friend bool operator==(const Hidden&, const Hidden&) = default;
};

struct SyscallEnter {
  std::uint32_t number = 0;
  std::array<std::uint64_t, 6> arguments{};
  friend bool operator==(const SyscallEnter&, const SyscallEnter&) = default;
};

struct SyscallReturn {
  std::uint32_t number = 0;
  std::int64_t result = 0;  // -errno on failure, as the kernel returns it
  friend bool operator==(const SyscallReturn&, const SyscallReturn&) = default;
};

/// Memory that the kernel read or wrote on the program's behalf.
struct KernelAccess {
  enum class Cause : std::uint8_t { kSyscall, kSignal, kOther };
  bool write = false;
  Cause cause = Cause::kSyscall;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  friend bool operator==(const KernelAccess&, const KernelAccess&) = default;
};

/// A change of the address space.
struct Mapping {
  enum class Operation : std::uint8_t { kMap, kUnmap, kRemap, kProtect, kBreak };
  Operation operation = Operation::kMap;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t old_address = 0;  // kRemap only
  std::uint64_t old_size = 0;     // kRemap only
  std::uint8_t protection = 0;    // 1 read, 2 write, 4 execute
  StackId stack = kNoStack;
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

struct Mark {
  bool begin = true;
  std::string name;
  friend bool operator==(const Mark&, const Mark&) = default;
};

/// A signal handler is entered, or has returned.
struct Signal {
  bool enter = true;
  std::uint32_t number = 0;
  bool alternate_stack = false;
  friend bool operator==(const Signal&, const Signal&) = default;
};

struct Fork {
  std::uint64_t child = 0;  // process id
  friend bool operator==(const Fork&, const Fork&) = default;
};

struct Exec {
  std::string path;
  friend bool operator==(const Exec&, const Exec&) = default;
};

using SideData = std::variant<ThreadStart, ThreadEnd, Recording, Allocation, Hidden, SyscallEnter, SyscallReturn,
                              KernelAccess, Mapping, Mark, Signal, Fork, Exec>;

struct SideEvent {
  ThreadId thread = 0;
  std::uint64_t slice = 0;     // the slice in which it happened
  std::uint64_t position = 0;  // number of the thread's events before it
  SideData data;
  friend bool operator==(const SideEvent&, const SideEvent&) = default;
};

// ---- The whole -------------------------------------------------------------------------------------------------

/// What is known when recording starts.
struct RunInfo {
  std::vector<std::string> argv;
  std::string program;      // resolved path
  std::string interpreter;  // of a script, else empty
  std::string working_directory;
  std::string loopfold_version;
  std::string valgrind_version;
  std::vector<std::string> options;  // of `record`, as given
  std::uint64_t process_id = 0;
  bool naive = true;  // every address and integer result is a slot
};

/// What is known when it ends.
struct EndInfo {
  enum class Reason : std::uint8_t {
    kProgramEnded,
    kInstructionLimit,
    kSizeLimit,
    kWriteError,
    kRecorderLost,  // the target was killed or lost contact; what was published is here
    kExec,          // the program replaced itself by another
  };
  Reason reason = Reason::kProgramEnded;
  std::string text;     // for a person: what ended the recording, if not the program
  int exit_status = 0;  // as `record` returns it: 128+n for signal n
  bool exit_status_known = true;
  std::uint64_t instructions = 0;         // in events
  std::uint64_t hidden_instructions = 0;  // in allocators, the resolver, --no-libs libraries
  std::uint64_t events = 0;
  std::uint64_t side_events = 0;
  std::uint64_t threads = 0;
  std::uint64_t checksum = 0;  // EventHash of all events in the global order, if that was asked for
};

}  // namespace loopfold::trace
