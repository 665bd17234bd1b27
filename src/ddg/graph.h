// The dynamic dependence graph, folded: statements, accesses, values, dependences and objects of a run.
//
// A *statement* is a place (a straight piece of code) in a context of the loop tree; what ran of it at one iteration
// vector is an *instance*. An iteration vector has one coordinate per dimension of the context, outermost first: the
// number of the stack (thread, signal handler, coroutine) among those that started the same way, then one counter per
// loop and recursive component. What the run did outside the program's own instructions has statements too: a call of
// an allocator, a system call.
//
// Where several calls of one kind and detail happen at one place between two events of a stack (in hidden code), the
// first, the second and so on are statements of their own; so is code that replaced other code at the same address.
//
// Four kinds of streams are folded. Everything about a point is exact; what folding approximates is said in Folded.
// - The *domain* of a statement: its instances, no labels.
// - The *accesses*: one stream per load or store of an instruction and object that it touched. Two outputs: the ordinal
//   of the memory block within its object, and the byte offset within the block.
// - The *values*: one stream per integer result of an instruction, sign-extended from the width that the instruction
//   writes. One output.
// - The *dependences*: one stream per (producer, consumer, operand, lane); the point is the consumer's iteration
//   vector, the outputs are the producer's.
//
// Flow dependences, and what they are between. A producer is an instruction of an instance; every byte of memory and of
// every register knows the instance that wrote it last. An operand of an instruction is a read of consecutive bytes.
// Its bytes are cut into maximal *chunks* that were written by one instance; bytes that nothing in the trace wrote
// (program input) belong to no chunk. Each chunk is one dependence; its *lane* is its first byte within the operand.
// - Operands: register reads by their index in InstructionFacts::reads; the flags that an instruction reads are one
//   operand, kFlagsOperand, whose bytes are the flags carry, parity, adjust, zero, sign, overflow in this order, those
//   it does not read left out when chunks are cut (the lane is the number of the flag, 0..5); the loads by
//   kFirstMemoryOperand + their index among the accesses of the instruction.
// - Registers that carry dependences: general (a write of 4 bytes writes 8), vector, x87 (one cell per physical
//   register), MMX (one cell each, apart from x87), flags but the direction flag. Segment bases, mxcsr, x87 control,
//   status and tags carry none.
// - Register flow between two instructions of one instance is the same in every instance: it is in Statement::local,
//   not in a stream. Flow through memory always is in a stream.
// - A guarded access whose address is 0 did not happen; nor did those of instructions on registers only (bt r,r), which
//   Valgrind computes through memory.
// - An allocator's call is a statement of kind kAllocator, at the context and node that control is at when it happens.
//   It reads rdi (calloc, realloc and memalign: and rsi) as operands 0 and 1, instruction 0; it produces rax, but for
//   free and delete; all other registers that a call may change (rcx, rdx, rsi, rdi, r8-r11, vector, x87, flags; rax
//   too, after free) have no producer afterwards. A fresh block's bytes and a freed block's have none; realloc moves
//   what was there.
// - Hidden code of a library (record --no-libs) is the same with kind kHidden: it reads rdi, rsi, rdx, rcx, r8, r9 as
//   operands 0..5, and produces rax, rdx, xmm0 and xmm1 (16 bytes each). What it does to memory is not known. The
//   hidden lazy resolver changes nothing.
// - A system call is a statement of kind kSystemCall: instruction 0 reads and writes memory as the kernel did (a read
//   is an operand kFirstMemoryOperand + n, the n-th of this call, all from the 100th on being one; since one read may
//   have very many chunks, the points of these dependences have one more coordinate, the number of the chunk, and no
//   lane), produces rax, and, if it has an effect outside (system_calls.h), reads and writes the environment: operand
//   kEnvironmentOperand, kind kEnvironment. What the kernel writes outside of system calls has no producer.
// - Mapping memory and unmapping it takes producers away; mremap moves them.
// - A signal handler starts with registers that have no producer; when it returns, those of before it are back.
//   A thread starts with none. While recording pauses, calls are no statements and what the
//   kernel writes has no producer; when it begins again, no register has one. Flow through memory over a pause is
//   inexact: what ran then may have written it anew.
//
// A frame that is left takes the producers of its cells with it, from its return address down to the lowest value that
// instructions of its stack gave the stack pointer since a frame of the stack was left last (which took what is below
// with it; to begin with, that frame's stack pointer behind its return address counts as the first such value), less
// the 128 bytes that leaf functions use below it. A stack pointer that is brought from elsewhere (written by an
// instruction that does not compute it from itself: mov rsp,rdi) and is lower than the stack's last one may belong to
// another stack: it and all that follow do not count, and the next frame of this stack that is left takes nothing with
// it. Frames whose stack pointer is not known take nothing, and those that are only given up: of a coroutine that is
// not resumed any more, of all stacks when recording begins again after a pause.
//
// Threads run one at a time, so there is one order, and flow between threads is flow like any other. But what another
// stack (thread, handler, coroutine) produced after a loop was entered is no input of that loop: Dependence::late. A
// system call produces when it begins. Coordinate 0, the stack's number, counts from the stack's first instruction on.
//
// Values behind copies. Binaries move values around: a register is saved by a callee and restored, a value is spilled
// and loaded again, a neighbour's element is kept for the next iteration. Beside its last writer, every byte of a
// register, and every byte of memory that a spill wrote, has an *origin*: the instance that made the value, before all
// copies.
// - The origin of what an instruction writes is the instance itself, but for what follows.
// - A *register copy*: Transfer::kCopy with no memory access, one data read (not address, merge or step) and one write
//   that is not a step, both of general or vector registers. Byte k of the write has the origin of byte k of the read;
//   what is written beyond has none.
// - A *merge*: what an instruction without memory operand writes at bytes of a vector register that it reads with
//   RegisterUse::merge has the origin of the byte that is kept.
// - A *spill*: a store of one access, not guarded, with Transfer::kCopy and one data read, of a general or vector
//   register, whose address is the stack or frame pointer (rsp, rbp) plus a constant (push is one), in the youngest
//   frame of its stack: from 128 bytes below the lower one of the stack pointers before and after the instruction up to
//   and with the frame's return address (if that is not known, up to 64 KB above the first stack pointer of the stack),
//   unless the stack pointer has gone over to another stack. The bytes stored have the origins of the register's bytes.
//   A store of a constant to such a place (Transfer::kCompute or kCopy, no load, no data reads, no flags) is a spill
//   too; its bytes have the store as origin.
// - A *plain load*: one load, not guarded, no store, no arithmetic (kinds), no flags, no data reads and no merges, not
//   repeated, one write that is not a step, to a general or vector register: mov, pop, movsd, movzx. It is a *reload*
//   if its transfer is Transfer::kCopy and all bytes that it loads were written last by one spill that began at the
//   same address: byte k that is written has the origin of byte k that was spilled, what is written beyond has none.
//   Otherwise the origin of all that it writes is the load itself.
// - What is written to rsp has no origin. Registers of a new thread or handler have none.
// Uses are the operands of instructions, allocators and hidden code (but not what the kernel reads in memory), without
// the data read of a register copy or spill, the load of a reload, merges, steps, flags and rsp. The
// bytes of a use are cut into maximal chunks of one writer and one origin. A chunk whose origin is another instance
// than the reader's, and is not its writer, is an Origin record; so is one whose origin is its writer, if that is a
// plain load and some shared coordinate differs. Register flow inside an instance is no exception: there the writer is
// a copy of the same instance. A chunk that a copy wrote and that has no origin is a record too, with `from`
// kNoStatement. Not folded, but counted exactly. Two limits: where bytes of different origins are copied into one
// granule of a vector register (movq xmm,rax behind mov al,bl; part_code.h), and past 4096 records of one lane, `from`
// and `by` are both kNoStatement: it is not known.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fold/fold.h"
#include "structure/code_map.h"
#include "structure/digraph.h"
#include "structure/loop_tree.h"
#include "trace/decode.h"
#include "trace/types.h"

namespace loopfold::ddg {

using StatementId = std::uint32_t;  // dense, in the order of first execution
using ObjectId = std::uint32_t;     // dense; 0 is the environment, 1 what is not known; then in the order of first use

/// In Dependence::from: a producer that is not known any more, because of the memory limit.
inline constexpr StatementId kNoStatement = 0xffffffff;

inline constexpr ObjectId kEnvironmentObject = 0;
inline constexpr ObjectId kUnknownObject = 1;

inline constexpr std::uint8_t kFirstMemoryOperand = 128;
inline constexpr std::uint8_t kEnvironmentOperand = 253;
inline constexpr std::uint8_t kFlagsOperand = 254;

/// Register flow inside one instance.
struct LocalFlow {
  std::uint16_t from = 0;  // instruction of the place
  std::uint16_t to = 0;
  std::uint8_t operand = 0;
  std::uint8_t lane = 0;
  friend auto operator<=>(const LocalFlow&, const LocalFlow&) = default;
};

struct Instruction {
  std::uint64_t address = 0;
  std::uint32_t kinds = 0;  // trace::Kind bits
};

struct Statement {
  enum class Kind : std::uint8_t { kCode, kAllocator, kHidden, kSystemCall };
  StatementId id = 0;
  Kind kind = Kind::kCode;
  structure::ContextId context = structure::kNoContext;
  structure::FunctionId function = structure::kNoFunction;  // that control is in: several in a recursive component
  structure::NodeId node = structure::kNoNode;              // of the function's graph
  structure::PlaceId place = structure::kNoPlace;           // of the node; where control was, for the other kinds
  std::uint32_t detail = 0;                                 // kAllocator: Allocation::Function; kSystemCall: its number
  std::uint32_t block = 0;                                  // kCode: in Graph::facts
  std::uint16_t first_instruction = 0;                      // kCode: of the block's
  bool followed = true;                                     // what it reads is known; else it is a producer only
  std::vector<Instruction> instructions;                    // one for the other kinds
  std::vector<LocalFlow> local;                             // sorted
  std::uint64_t count = 0;                                  // instances
  fold::Folded domain;
};

struct Access {
  StatementId statement = 0;
  std::uint16_t instruction = 0;  // of the place
  std::uint8_t index = 0;         // among the accesses of the instruction
  bool store = false;
  bool guarded = false;
  std::uint32_t size = 0;
  ObjectId object = kUnknownObject;
  fold::Folded address;      // outputs: block ordinal, byte offset
  std::uint64_t copies = 0;  // instances that were spills (of a store) or reloads (of a load)
  /// In each entry of the innermost loop, the block (the offset) stays the same. Entries may differ.
  bool same_block = true;
  bool same_offset = true;
};

struct Value {
  StatementId statement = 0;
  std::uint16_t instruction = 0;
  std::uint8_t index = 0;  // among the results of the instruction
  std::uint8_t reg = 0;    // as in trace::IntegerResult
  std::uint8_t width = 0;
  fold::Folded value;
  /// In each entry of the innermost loop, it grows by the same from iteration to iteration (those in which it was not
  /// computed count), without wrapping around. Entries may differ. True if there is no loop around it.
  bool steady = true;
};

struct Dependence {
  enum class Kind : std::uint8_t { kRegister, kMemory, kEnvironment };
  StatementId from = 0;
  StatementId to = 0;
  std::uint16_t from_instruction = 0;
  std::uint16_t to_instruction = 0;
  std::uint8_t operand = 0;
  std::uint16_t lane = 0;
  Kind kind = Kind::kRegister;
  bool address = false;              // the operand is read to form an address, and for nothing else
  bool chunks = false;               // points have one more coordinate, the number of the chunk
  ObjectId object = kUnknownObject;  // kMemory: of the first instance; kEnvironment: the environment
  bool more_objects = false;         // kMemory: other instances were in other objects
  /// By level: instances whose first shared coordinate that differs is this one; the last entry: none differs.
  std::vector<std::uint64_t> carried;
  std::uint64_t reloads = 0;  // instances in which the consumer was a reload
  /// By coordinate of the consumer: instances that another stack produced after the loop that the coordinate counts was
  /// entered. Empty if there are none.
  std::vector<std::uint64_t> late;
  fold::Folded map;
};

/// What a use gets through copies, or from a load of another iteration.
struct Origin {
  StatementId from = kNoStatement;  // the origin; kNoStatement: nothing in the trace made it, or it is not known
  StatementId by = kNoStatement;    // the last writer: a copy, or the origin itself if that is a load
  StatementId to = 0;
  std::uint16_t from_instruction = 0;
  std::uint16_t by_instruction = 0;
  std::uint16_t to_instruction = 0;
  std::uint8_t operand = 0;
  std::uint16_t lane = 0;
  bool load = false;   // the origin is a plain load
  bool local = false;  // the last writer is in the reader's own instance
  /// By level, as in Dependence: where the origin is, from the reader. Without an origin: one entry, the instances.
  std::vector<std::uint64_t> carried;
  /// Of these, by level, if the origin is a load: a byte that it loaded has another last writer by now.
  std::vector<std::uint64_t> rewritten;
  /// And where none has: the last writer of a byte is carried by the same level.
  std::vector<std::uint64_t> reread;
  /// By level: the reader's coordinate there less the origin's, where the level carries it.
  std::vector<std::int64_t> least;
  std::vector<std::int64_t> greatest;
  /// By coordinate of the reader: the operand's lane had another origin the last time that this stack read it, record
  /// or not, in the same entry of the loop that the coordinate counts, and both are older than that entry.
  std::vector<std::uint64_t> turns;
  /// Of the operand's lane as a whole: in each entry of the reader's innermost loop, all origins were plain loads, and
  /// their addresses grew in proportion to the iterations. Loads of the reader's own instance count. Without loops:
  /// all were plain loads.
  bool even = false;
};

struct Object {
  enum class Kind : std::uint8_t { kHeap, kGlobal, kStack, kEnvironment, kUnknown };
  ObjectId id = 0;
  Kind kind = Kind::kUnknown;
  std::string name;        // "conn" (global), "malloc in alloc_rows", "frame of f", "environment", ...
  std::string type;        // of a global, from DWARF: "double[300][120]"; else empty
  std::uint64_t size = 0;  // of the largest block
  std::uint64_t blocks = 0;
  std::uint64_t site =
      0;  // heap: the address of the call in the program's own code; stack: of the function; global: its address
  std::string file;  // of a global: where it is declared, if known
  int line = 0;
};

/// Something that could not be kept as exactly as asked, beyond what single streams say about themselves.
struct GaveUp {
  StatementId statement = kNoStatement;  // that it concerns, if it is one
  std::string what;
  std::string why;
  std::uint64_t instructions = 0;  // that it concerns
};

struct Costs {
  double seconds = 0;  // of CPU time
  std::uint64_t instructions = 0;
  std::uint64_t points = 0;  // given to folders
  std::uint64_t streams = 0;
  std::uint64_t shadow_bytes = 0;  // most at a time
  std::uint64_t stream_bytes = 0;  // most at a time, accounted
  std::uint64_t collections = 0;   // of iteration vectors that nothing refers to any more
  std::uint64_t rounds = 0;        // iterations around inner loops that were not followed, but taken at once
};

struct Graph {
  std::vector<Statement> statements;    // by id
  std::vector<Access> accesses;         // sorted by statement, instruction, index, object
  std::vector<Value> values;            // sorted by statement, instruction, index
  std::vector<Dependence> dependences;  // sorted by to, to_instruction, operand, lane, from, from_instruction
  std::vector<Origin> origins;          // sorted by to, to_instruction, operand, lane, by, by_instruction, from, ...
  std::vector<Object> objects;          // by id
  std::vector<GaveUp> gave_up;
  std::shared_ptr<const std::vector<std::vector<trace::InstructionFacts>>> facts;  // by block and instruction
  std::uint64_t unkept_instructions = 0;  // of code that has no statements, because of --max-statements
  std::string damage;                     // one line if the trace could not be read to its end
  std::uint64_t max_intermediate =
      0;  // #MP_I: most intermediate polyhedra of all streams at a time, summed at the ends
  Costs costs;
};

/// Dimensions of the iteration vectors of a context: the stack's number, loops and recursions around it and itself.
std::uint16_t dimensions_of(const structure::LoopTree& tree, structure::ContextId context);

/// Dimensions that both contexts share: those of the nearest context that both are in.
std::uint16_t shared_dimensions(const structure::LoopTree& tree, structure::ContextId a, structure::ContextId b);

}  // namespace loopfold::ddg
