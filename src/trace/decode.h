// What the bytes of a block say about its instructions: kinds, register and flag operands, copies, associative
// operations, and where a branch's condition comes from.
//
// VEX IR as a tool sees it is already optimised, so operands cannot be taken from it; they are decoded here, with
// Zydis, outside the target and only when a stage asks. Exact for what Zydis decodes; an instruction it does not know
// has kind kUnknown and reads and writes nothing, which a consumer must treat as "anything".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/types.h"

namespace loopfold::trace {

/// Bits of InstructionFacts::kinds.
enum Kind : std::uint32_t {
  kInteger = 1u << 0,
  kFloatScalar = 1u << 1,    // SSE/AVX scalar arithmetic, conversion, comparison or move
  kFloatVector = 1u << 2,    // packed floating point
  kIntegerVector = 1u << 3,  // packed integer, and vector logic or moves with no type of their own
  kX87 = 1u << 4,
  kLoad = 1u << 5,
  kStore = 1u << 6,
  kBranch = 1u << 7,       // any jump, conditional or not
  kConditional = 1u << 8,  // with kBranch: jcc, loop, jrcxz; alone: cmov, setcc
  kIndirect = 1u << 9,     // jump or call through a register or memory
  kCall = 1u << 10,
  kReturn = 1u << 11,
  kSyscall = 1u << 12,
  kAtomic = 1u << 13,  // lock prefix, or xchg with memory
  kRepeat = 1u << 14,  // rep-prefixed string instruction: one event per iteration
  kNop = 1u << 15,     // includes endbr64, prefetch, pause
  kMarker = 1u << 16,  // the 19-byte marker preamble
  kUnknown = 1u << 17,
  kArithmetic = 1u << 18,  // computes (not a move, branch or nop): what "operations" counts
  kFused = 1u << 19,       // fused multiply-add: `associative` is kAdd, `accumulator` the addend
};

/// How the result comes from the inputs: the memory read and the reads that are not `address`, `merge` or `step`. The
/// writes marked `step` are not meant: they are computed from the reads marked `step`, whatever `transfer` says.
enum class Transfer : std::uint8_t {
  kCompute,  // the default: the result is a function of the inputs; of none for mov r,imm and fld1
  kCopy,     // the result is an input, bit for bit: mov, push, pop, leave, plain loads and stores of any register file.
             // What is written beyond the bytes read is zeroed (mov eax,ebx; movsd xmm,m64). xchg and fxch are two
             // copies: each of the two places gets what the other had
  kZero,     // the result does not depend on the inputs: xor r,r; sub r,r; pxor x,x; vpcmpeq (all ones) too. A zeroed
             // register is not among the reads
};

enum class Associative : std::uint8_t { kNone, kAdd, kSubtract, kMultiply, kMin, kMax, kAnd, kOr, kXor };

enum class RegisterFile : std::uint8_t {
  kGeneral,  // index = hardware number
  kVector,   // xmm/ymm, index 0-15
  kX87,      // index = i of st(i), relative to the top before the instruction: a push writes index 7
  kMmx,
  kFlags,        // never in reads or writes: see flags_read and flags_written
  kSegmentBase,  // fs = 0, gs = 1
  kMxcsr,
  kX87Control,  // control word = 0, status word = 1, tag word = 2
  kOther,
};

/// One register operand, explicit or implicit.
struct RegisterUse {
  RegisterFile file = RegisterFile::kGeneral;
  std::uint8_t index = 0;
  std::uint8_t byte = 0;   // first byte (1 for ah)
  std::uint8_t width = 0;  // bytes read or written; a write of 4 bytes to a general register also clears the upper 4,
                           // and a VEX-encoded write to xmm clears the upper half of ymm: reported with the full width
  bool address = false;    // read only to form the address of a memory operand
  bool merge = false;      // read only to be kept: what of it reaches the result does so unchanged (the upper part of a
                           // VEX scalar operation, the old contents of a gather's masked lanes)
  bool step = false;       // read or written beside the instruction's real work, by adding a constant: the stack
                           // pointer of push, pop, call, ret and leave; rsi, rdi and rcx of string instructions
  bool zero_extended = false;  // of a write: 4 bytes were computed, and the upper 4 are cleared
  friend bool operator==(const RegisterUse&, const RegisterUse&) = default;
};

/// Bits of flags_read and flags_written.
enum Flag : std::uint8_t {
  kCarry = 1,
  kParity = 2,
  kAdjust = 4,
  kZeroFlag = 8,
  kSign = 16,
  kOverflow = 32,
  kDirection = 64
};

/// Values of InstructionFacts::accumulator that are not an index.
inline constexpr std::int8_t kAnyOperand = -1;
inline constexpr std::int8_t kMemoryOperand = -2;
inline constexpr std::int8_t kNoOperand = -3;

/// Value of InstructionFacts::condition where there is none.
inline constexpr std::uint8_t kNoCondition = 255;
inline constexpr std::uint32_t kNoConstants = 2166136261u;  // InstructionFacts::constants of none

struct InstructionFacts {
  std::uint32_t kinds = 0;
  Transfer transfer = Transfer::kCompute;
  Associative associative = Associative::kNone;
  bool floating = false;                  // of `associative`: floating point (reassociation changes the result)
  std::int8_t accumulator = kAnyOperand;  // of `associative`: which of `reads` a reduction may run through, where not
                                          // any may: the minuend of kSubtract, the addend of kFused, the unscaled
                                          // operand of lea, the bits of bts
  std::uint8_t element_bytes = 0;         // of `associative` and vector kinds: size of one lane
  std::uint8_t lanes = 1;
  std::uint8_t flags_read = 0;     // only what it computes or decides with (inc/dec's kept carry is not read)
  std::uint8_t flags_written = 0;  // written or left undefined
  std::int8_t x87_pops = 0;  // how many registers the x87 stack loses; negative: it grows. The top pointer grows by it
  // Conditional branch, cmov, setcc, adc, sbb: index in the block of the last instruction that wrote a flag it reads
  // (or is kUnknown); -1 if that was in an earlier block.
  std::int16_t condition_from = -1;
  // jcc, cmovcc, setcc: the condition's number as in the opcode: 0 overflow, 2 below, 4 equal, 6 below or equal, 8
  // sign, 10 parity, 12 less, 14 less or equal; one more: the opposite.
  std::uint8_t condition = kNoCondition;
  // cmp, comis, ucomis: the left one of the two values, an index in `reads` or kMemoryOperand; kNoOperand: no
  // comparison.
  std::int8_t compared = kNoOperand;
  std::uint8_t length = 0;        // bytes of the instruction
  std::uint8_t scale = 0;         // of the memory operand (of lea too): 0 if it has no index
  bool based = false;             // the memory operand has a base register
  std::int32_t jump = 0;          // direct jumps and calls: the target, from the end of the instruction
  std::int64_t displacement = 0;  // of the memory operand
  std::uint32_t form = 0;       // a hash of its name and of the kinds and sizes of its operands, not of which registers
                                // and numbers they are
  std::uint32_t constants = 0;  // a hash of its immediate operands; xor r,r and its like count as a zero
  std::vector<RegisterUse> reads;
  std::vector<RegisterUse> writes;
};

/// Whether the instruction accesses memory. Valgrind computes `bt` and its relatives on registers through memory below
/// the stack, and so a trace has accesses of theirs that the program does not make.
inline bool accesses_memory(const InstructionFacts& facts) { return (facts.kinds & (kLoad | kStore | kUnknown)) != 0; }

/// One entry per instruction of the block.
std::vector<InstructionFacts> decode(const Block& block);

/// Intel syntax text of instruction `index`; "(marker)" for a marker preamble, "(bad)" if undecodable.
std::string disassemble(const Block& block, std::size_t index);

}  // namespace loopfold::trace
