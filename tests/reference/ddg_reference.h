// The dependence graph of a run, the slow and obvious way: a reference that src/ddg is compared with.
//
// Computes what the essay of ddg/graph.h defines, from a trace and its structure, event by event: a map from every
// byte of memory to the producer that wrote it last, an array of such producers for the registers of every thread,
// beside each writer the origin behind copies, and one explicit list of points for every stream. Nothing is folded,
// shared, cached, cut short or done for several iterations at once, and no code of src/ddg is used but the types and
// constants of graph.h and the table of system calls that have an effect outside, which is a definition. Contexts and
// iteration vectors are those of the structure stage, which has a reference of its own.
//
// Exact. Costs a few hundred bytes per instruction that ran: for small programs, and it refuses others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ddg/graph.h"
#include "structure/loop_tree.h"
#include "structure/structure.h"
#include "support/result.h"
#include "trace/decode.h"
#include "trace/reader.h"

namespace loopfold::reference {

inline constexpr std::uint64_t kMaxEvents = 5'000'000;

/// Points with labels, in the order in which they came.
struct Points {
  std::size_t dimensions = 0;
  std::size_t outputs = 0;
  std::size_t count = 0;
  std::vector<std::int64_t> data;  // point after point: coordinates, then labels

  std::span<const std::int64_t> point(std::size_t i) const {
    return {data.data() + i * (dimensions + outputs), dimensions};
  }
  std::span<const std::int64_t> labels(std::size_t i) const {
    return {data.data() + i * (dimensions + outputs) + dimensions, outputs};
  }
  void add(std::span<const std::int64_t> point, std::span<const std::int64_t> labels);
};

/// What tells a statement from others.
struct StatementKey {
  ddg::Statement::Kind kind = ddg::Statement::Kind::kCode;
  structure::ContextId context = structure::kNoContext;
  structure::FunctionId function = structure::kNoFunction;
  structure::NodeId node = structure::kNoNode;
  structure::PlaceId place = structure::kNoPlace;
  std::uint32_t detail = 0;
  /// kCode: which of the pieces of code that were at the place at different times; else: how many like it
  /// there were on the same stack since its last event.
  std::uint32_t variant = 0;
  friend auto operator<=>(const StatementKey&, const StatementKey&) = default;
};

/// Statements are numbered in the order of their first execution.
struct Statement {
  StatementKey key;
  std::vector<structure::ContextId> counting;  // around it: those that have a counter, outermost first
  std::vector<ddg::Instruction> instructions;  // of the longest execution
  std::vector<trace::InstructionFacts> facts;  // of these
  std::vector<std::string> texts;              // disassembled
  /// kCode: blocks that have it, and where in them it begins.
  std::set<std::pair<std::uint32_t, std::uint16_t>> in_blocks;
  std::set<ddg::LocalFlow> local;
  Points domain;
};

struct AccessKey {
  std::uint32_t statement = 0;
  std::uint16_t instruction = 0;
  std::uint8_t index = 0;
  friend auto operator<=>(const AccessKey&, const AccessKey&) = default;
};

struct Access {
  bool store = false;
  bool guarded = false;
  std::uint32_t size = 0;
  Points address;  // one output: the address itself
  /// By point: which heap block the address was in, by number of allocation from 1 on; 0 if in none. A block that is
  /// reallocated has a new number.
  std::vector<std::uint64_t> heap_block;
  std::vector<std::uint64_t> moves;  // by point: how often mremap has moved something so far
  std::uint64_t copies = 0;          // spills and reloads
};

using ValueKey = AccessKey;

struct Value {
  std::uint8_t reg = 0;
  std::uint8_t width = 0;
  Points value;
  bool steady = true;
};

struct DependenceKey {
  std::uint32_t to = 0;
  std::uint16_t to_instruction = 0;
  std::uint8_t operand = 0;
  std::uint16_t lane = 0;
  std::uint32_t from = 0;
  std::uint16_t from_instruction = 0;
  ddg::Dependence::Kind kind = ddg::Dependence::Kind::kRegister;
  bool chunks = false;
  friend auto operator<=>(const DependenceKey&, const DependenceKey&) = default;
};

struct Dependence {
  bool address = false;
  std::size_t shared = 0;  // dimensions that both statements have in common
  std::vector<std::uint64_t> carried;
  std::vector<std::uint64_t> late;  // by coordinate of the consumer; empty if none is
  std::uint64_t reloads = 0;
  Points map;  // from the consumer's iteration vector to the producer's
};

struct OriginKey {
  std::uint32_t to = 0;
  std::uint16_t to_instruction = 0;
  std::uint8_t operand = 0;
  std::uint16_t lane = 0;
  std::uint32_t by = ddg::kNoStatement;
  std::uint16_t by_instruction = 0;
  std::uint32_t from = ddg::kNoStatement;
  std::uint16_t from_instruction = 0;
  bool load = false;
  bool local = false;
  friend auto operator<=>(const OriginKey&, const OriginKey&) = default;
};

struct Origin {
  std::uint64_t count = 0;
  std::vector<std::uint64_t> carried;             // by level; empty without an origin
  std::vector<std::uint64_t> rewritten;           // by level; empty if the origin is no load
  std::vector<std::uint64_t> reread;              // the same
  std::vector<std::set<std::int64_t>> distances;  // by level that carries
  std::vector<std::uint64_t> turns;               // by coordinate of the reader; empty if there are none
  bool even = false;
};

struct Graph {
  std::vector<Statement> statements;
  std::map<AccessKey, Access> accesses;
  std::map<ValueKey, Value> values;
  std::map<DependenceKey, Dependence> dependences;
  std::map<OriginKey, Origin> origins;
  structure::LoopTree tree;
  std::uint64_t instructions = 0;
};

/// Whether a value grows by the same from iteration to iteration, in each entry of the innermost loop: all points that
/// agree in all coordinates but the last lie on one line of integer slope. What is in no loop does.
bool is_steady(const Points& value);

/// An Error if the trace is damaged, or has more than kMaxEvents events.
Result<Graph> build(const trace::Reader& reader, const structure::Structure& structure);

}  // namespace loopfold::reference
