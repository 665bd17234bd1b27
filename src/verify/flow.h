// What was seen of the flow of values in one replay: the instructions that ran, and how values and decisions went from
// one to another, counted by loop.
//
// A *node* is an instruction in a context of the loop tree, or something that the run did outside of the program's own
// instructions there (a call of an allocator, a system call). A *use* is an operand of a node: a register, the flags,
// bytes of memory, the environment. An *edge* of a use says that some of its values were made by another node, and for
// every level of loops around the two how often the producer was in the same iteration, how often in an earlier one of
// the same entry, and over which distances. Whatever is not in the same entry comes from *outside*.
//
// Where data decide over copies, one operand has different producers for different loops (values.h). Such edges count
// for one level only, Edge::level.
//
// This is all that is kept of a replay: its size is that of the code that ran, not of the run.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "structure/loop_tree.h"
#include "structure/structure.h"
#include "trace/decode.h"
#include "verify/iterations.h"
#include "verify/lines.h"
#include "verify/values.h"

namespace loopfold::verify {

using PartIndex = std::uint32_t;

inline constexpr std::uint8_t kFirstMemory = 128;   // operands: loads, in the order of the instruction's accesses
inline constexpr std::uint8_t kKernelMemory = 252;  // all that a system call reads
inline constexpr std::uint8_t kEnvironment = 253;
inline constexpr std::uint8_t kFlagsOperand = 254;
inline constexpr std::uint8_t kControl = 255;  // the decision that a part runs

/// Where a value was in memory.
struct TouchedObject {
  std::uint64_t address = 0;               // the first one seen
  bool heap = false;                       // in a block of the heap,
  std::uint64_t block = 0;                 // that begins here
  std::uint64_t size = 0;
  trace::StackId stack = trace::kNoStack;  // and was allocated there
  structure::FunctionId function = structure::kNoFunction;  // in a frame of this one
};

/// One level of an edge.
struct EdgeLevel {
  static constexpr std::size_t kMostObjects = 16;
  std::uint64_t inside = 0;     // producer in the same iteration
  std::uint64_t carried = 0;    // in an earlier one of the same entry
  std::uint64_t rewritten = 0;  // of these, the producer being a load: what it loaded has been overwritten since
  std::uint64_t reread = 0;     // of these: ... or was written in the same entry
  std::int64_t least = 0;       // distance of those carried
  std::int64_t greatest = 0;
  std::vector<TouchedObject> objects;      // memory: what those carried were in, the first few
  std::vector<std::uint64_t> producer;     // iteration vectors of the first that was carried
  std::vector<std::uint64_t> consumer;
};

struct Edge {
  static constexpr std::uint16_t kAllLevels = 0xffff;
  NodeIndex from = kNoNodeIndex;
  std::uint16_t level = kAllLevels;  // it counts for
  bool load = false;                 // the value is what a plain load got
  bool behind_copies = false;        // some instances
  std::vector<EdgeLevel> levels;
  bool counts(std::size_t at) const { return at < levels.size() && (level == kAllLevels || level == at); }
};

/// What a use is like along the loop of one level.
struct UseLevel {
  bool varies = false;       // values from outside came from different places in one entry
  std::uint64_t turns = 0;   // ... and it was an earlier iteration that brought the other one there
  bool moves = false;        // memory: the address changed in an entry
  bool uneven = false;       // not all were loads whose addresses advance evenly
  std::uint64_t serial = 0;  // of the entry that the following are about
  std::uint64_t identity = 0;
  bool has_identity = false;
  std::uint64_t address_serial = 0;
  std::uint64_t address = 0;
  Line loads;               // addresses from where the values were loaded
  Line values;              // the values, where they are known
  bool unknown_values = false;
};

struct Use {
  std::uint8_t operand = 0;
  std::uint8_t lane = 0;  // first byte within it
  bool address = false;   // read to form an address, and for nothing else
  bool memory = false;
  bool step = false;
  std::vector<Edge> edges;
  std::vector<UseLevel> levels;
};

/// Where a node stores, along the loop of one level.
struct StoreLevel {
  std::uint64_t serial = 0;
  std::uint64_t address = 0;
  bool moves = false;  // the address changed in an entry
};

/// Frames were left by longjmp, an exception or the end of the program, and loops with them.
struct Unwinding {
  NodeIndex branch = kNoNodeIndex;  // that decided it
  std::uint64_t levels = 0;         // of the loops that were left
  std::uint64_t count = 0;
};

struct Node {
  enum class Kind : std::uint8_t { kCode, kAllocator, kHidden, kSystemCall };
  Kind kind = Kind::kCode;
  structure::ContextId context = structure::kNoContext;
  PartIndex part = 0;
  std::uint64_t address = 0;                        // of the instruction
  const trace::InstructionFacts* facts = nullptr;   // kCode
  bool copy = false;   // it only passes a value on: register move, spill, reload
  bool load = false;   // a plain load, where it is no reload
  bool has_value = false;
  bool displaces = false;  // it stored something elsewhere than where it came from
  bool frame = true;   // all memory that it accessed was its own function's frame, at a fixed place
  std::vector<StoreLevel> stores;  // by level: of the first store of an instruction
  std::uint64_t count = 0;
  std::vector<Line> values;  // by level: its integer result
  std::vector<Use> uses;
};

/// A straight piece of code in a context: what is decided as a whole. Its node `first` is its first instruction.
struct PartNode {
  structure::ContextId context = structure::kNoContext;
  structure::FunctionId function = structure::kNoFunction;
  structure::NodeId node = structure::kNoNode;
  structure::PlaceId place = structure::kNoPlace;
  std::uint16_t levels = 0;  // of loops around it
  std::uint64_t count = 0;
  std::vector<NodeIndex> nodes;
  std::uint64_t decided = 0;  // levels of loops in which data decide whether it runs; found between replays
  Use control;                // edges from branches
};

/// What tells a part from others.
struct PartKey {
  structure::ContextId context = structure::kNoContext;
  structure::FunctionId function = structure::kNoFunction;
  structure::NodeId node = structure::kNoNode;
  structure::PlaceId place = structure::kNoPlace;
  Node::Kind kind = Node::Kind::kCode;
  std::uint32_t detail = 0;  // of what is outside: which call it is
  friend bool operator==(const PartKey&, const PartKey&) = default;
};
struct PartKeyHash {
  std::size_t operator()(const PartKey& key) const;
};

/// Who had a hand in a value that a use got from an earlier iteration: who made it, or copied it.
struct CopiedKey {
  NodeIndex from = kNoNodeIndex;
  NodeIndex to = kNoNodeIndex;
  std::uint16_t level = 0;
  friend auto operator<=>(const CopiedKey&, const CopiedKey&) = default;
};
struct Copied {
  std::uint64_t count = 0;
  std::int64_t least = 0;
  std::int64_t greatest = 0;
};

struct Flow {
  std::vector<Node> nodes;
  std::vector<PartNode> parts;
  std::vector<Unwinding> unwindings;
  // Found by the first replay, in which all copies are transparent:
  std::map<CopiedKey, Copied> copied;
  std::set<std::pair<NodeIndex, std::uint16_t>> varied;  // by level: nodes with a use that varies
  std::unordered_map<PartKey, PartIndex, PartKeyHash> index;

  /// Forgets what a replay has counted, and keeps nodes, parts and what is decided.
  void begin_replay();

  /// The use of a node with this operand and lane, added if there is none.
  static Use& use(std::vector<Use>& uses, std::uint8_t operand, std::uint8_t lane);
  /// The edge from a node, at all levels or one.
  static Edge& edge(Use& use, NodeIndex from, std::uint16_t level);
};

}  // namespace loopfold::verify
