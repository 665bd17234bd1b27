// The wire between the recorder (inside the target, freestanding) and the recording process: one shared-memory ring.
//
// The ring is a header page and kSegments segments of kSegmentBytes, written by the target and read by the recording
// process, in order. A position is a byte count since the start; position / kSegmentBytes % kSegments is the segment.
// The stream is a sequence of records, each an 8-byte header and 8-byte words; no record crosses a segment's end.
//
//   header = id | length << 32     id >= kFirstExit: a block ran and left by exit `id`; length is 0, and the number of
//                                  words is known from the exit's description
//                                  id <  kFirstExit: a Record; length = number of words that follow
//   header = 0                     nothing more in this segment
//
// A segment is zeroed before it is written, so that a reader of a dead target's ring finds the end by itself, and so
// that a header that is there although its record was never finished tells a fault in the middle of a block.
//
// Everything is in one stream and so in one order: descriptions come before the first execution of their block, thread
// switches stand where they happen. Nothing else needs a lock.
#pragma once

#include <atomic>
#include <cstdint>

namespace loopfold::wire {

inline constexpr std::uint64_t kMagic = 0x31474e4952464c4cull;  // "LLFRING1"
inline constexpr std::uint32_t kSegmentBytes = 64 * 1024;
inline constexpr std::uint32_t kSegments = 16;
inline constexpr std::uint32_t kHeaderBytes = 4096;
inline constexpr std::uint64_t kRingBytes = kHeaderBytes + std::uint64_t{kSegmentBytes} * kSegments;

struct RingHeader {
  std::uint64_t magic;
  // Written by the target.
  alignas(64) std::atomic<std::uint64_t> written;  // everything before this position may be read
  std::atomic<std::uint32_t> written_segments;     // futex word: counts segment switches
  std::atomic<std::uint32_t> attached;             // the target has mapped the ring
  std::atomic<std::uint32_t> finished;             // the target has said all it has to say
  std::atomic<std::uint64_t> target_waits_for;     // the target sleeps until `consumed` is here; 0: it does not
  // Written by the recording process.
  alignas(64) std::atomic<std::uint64_t> consumed;  // everything before this position may be overwritten
  std::atomic<std::uint32_t> consumed_segments;     // futex word
  std::atomic<std::uint32_t> reader_waits;          // the recording process sleeps until a few segments are full
  std::atomic<std::uint32_t> stop;                  // the target shall stop recording and go on
};
static_assert(sizeof(RingHeader) <= kHeaderBytes);

/// Ids of records that are not block executions. The words of each are listed behind it.
enum Record : std::uint32_t {
  kEndOfSegment = 0,
  kDescribe = 1,        // a Description and what follows it
  kThread = 2,          // {thread}: what follows is done by this thread
  kThreadStart = 3,     // {thread, parent, kernel id}
  kThreadEnd = 4,       // {thread}
  kSyscallEnter = 5,    // {number, 6 arguments}
  kSyscallReturn = 6,   // {number, result}
  kKernelRead = 7,      // {address, size, cause}
  kKernelWrite = 8,     // {address, size, cause}
  kMap = 9,             // {address, size, protection}
  kUnmap = 10,          // {address, size}
  kRemap = 11,          // {old address, new address, size}
  kProtect = 12,        // {address, size, protection}
  kBreak = 13,          // {address, size, 1 grown | 0 shrunk}
  kMark = 14,           // {1 begin | 0 end, characters, packed string}
  kSignalEnter = 15,    // {number, alternate stack}
  kSignalReturn = 16,   // {number}
  kExec = 17,           // {characters, packed path}
  kFunctionEnter = 18,  // {Function, stack pointer, return address, 3 arguments}
  kFunctionLeave = 19,  // {Function, result, 1 returned | 0 left by an exception, longjmp or pthread_exit}
  kModule = 20,         // {start, size, file offset, characters, packed path}
  kInterrupted = 21,    // {base exit, instruction address, the block's slots}
  kFirstExit = 64,
};

/// Functions whose entry and return the target reports.
enum Function : std::uint32_t {
  kFunctionMain = 1,
  kFunctionScope = 2,     // of --from or --only
  kFunctionResolver = 3,  // the dynamic linker's lazy resolver
  kFunctionMalloc = 16,
  kFunctionCalloc,
  kFunctionRealloc,
  kFunctionReallocArray,
  kFunctionMemalign,       // (alignment, size)
  kFunctionPosixMemalign,  // (pointer's address, alignment, size); the result is the pointer
  kFunctionValloc,
  kFunctionFree,
  kFunctionNew,
  kFunctionNewAligned,
  kFunctionDelete,
};

/// Why the kernel touched memory (kKernelRead, kKernelWrite).
enum Cause : std::uint32_t { kCauseSyscall = 0, kCauseSignal = 1, kCauseOther = 2 };

inline constexpr std::uint16_t kNoSlot = 0xffff;

/// Where a value comes from, in 32 bits: a ValueKind in the upper two, an index below.
enum ValueKind : std::uint32_t { kValueNone = 0, kValueSlot = 1, kValueExpression = 2, kValueConstant = 3 };
inline constexpr std::uint32_t kNoValue = 0;
constexpr std::uint32_t make_value(ValueKind kind, std::uint32_t index) { return kind << 30 | index; }
constexpr ValueKind value_kind(std::uint32_t value) { return static_cast<ValueKind>(value >> 30); }
constexpr std::uint32_t value_index(std::uint32_t value) { return value & 0x3fffffff; }

/// How a value of fewer bits becomes one of 64; numbered as trace::Expression::Extend.
enum Extend : std::uint8_t {
  kExtendNone,
  kExtendZero8,
  kExtendZero16,
  kExtendZero32,
  kExtendSign8,
  kExtendSign16,
  kExtendSign32
};

/// A translated block. Behind it, each padded to 8 bytes: exits, accesses, results, constants, expressions, checks,
/// lengths, bytes, trap bytes.
struct Description {
  std::uint64_t address;
  std::uint32_t base_exit;  // exits have ids base_exit, base_exit + 1, ...; the first is the final one
  std::uint16_t exits;
  std::uint16_t instructions;
  std::uint16_t accesses;
  std::uint16_t results;
  std::uint16_t slots;
  std::uint16_t ftop_slot;
  std::uint32_t bytes;
  std::uint32_t trap_bytes;  // of the instruction that cannot be decoded, behind the block
  std::uint32_t constants;
  std::uint32_t expressions;
  std::uint32_t checks;
  std::uint32_t unused;
};

struct DescribedExit {
  std::uint64_t target;
  std::uint16_t instructions;
  std::uint16_t accesses;
  std::uint16_t results;
  std::uint16_t slots;
  std::uint8_t kind;  // trace::ExitKind
  std::uint8_t has_target;
  std::uint16_t unused;
  std::uint32_t sp;  // value; a slot, or an expression slot + constant
};

struct DescribedAccess {
  std::uint32_t address;  // value
  std::uint32_t size;
  std::uint16_t instruction;
  std::uint8_t store;
  std::uint8_t guarded;
  std::uint8_t atomic;
  std::uint8_t unused[3];
};

struct DescribedResult {
  std::uint32_t value;
  std::uint16_t instruction;
  std::uint8_t reg;         // hardware number
  std::uint8_t byte_width;  // first byte << 4 | bytes
};

struct DescribedTerm {
  std::uint64_t coefficient;
  std::uint32_t operand;  // value: a slot or an earlier expression
  std::uint32_t unused;
};

inline constexpr std::uint32_t kMaxTerms = 4;

struct DescribedExpression {
  std::uint64_t constant;
  std::uint8_t extend;
  std::uint8_t terms;
  std::uint8_t unused[6];
  DescribedTerm term[kMaxTerms];
};

/// In verified recordings: the value in a slot, and how it could have been derived.
struct DescribedCheck {
  std::uint32_t slot;
  std::uint32_t derived;
};

static_assert(sizeof(Description) == 48 && sizeof(DescribedExit) == 24 && sizeof(DescribedAccess) == 16 &&
              sizeof(DescribedResult) == 8 && sizeof(DescribedExpression) == 80);

}  // namespace loopfold::wire
