// What the instructions of one loop read, seen closely: where a value comes from, and in which register or cell of
// memory it comes into an iteration.
//
// A LoopFlow says which instruction made a value; the copies on the way are gone from it. Where it matters that a
// variable has one place, that is not enough: this looks the copies up again, in the dependence graph.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ddg/graph.h"
#include "poly/loop_flow.h"

namespace loopfold::poly {

/// Where a read gets its values from: one instruction of the loop, or what is outside.
struct Source {
  std::uint32_t node = FlowEdge::kOutside;
  std::uint16_t lane = 0;
  std::uint64_t carried = 0;  // as in FlowEdge
  std::uint64_t inside = 0;
  std::uint64_t before = 0;
  std::int64_t least = 0;
  std::int64_t greatest = 0;
  bool in_loop() const { return node != FlowEdge::kOutside && (carried | inside) != 0; }
};

/// A register, a cell of memory that stays the same in the loop, or cells that do not.
struct Place {
  enum class Kind : std::uint8_t { kRegister, kCell, kCells };
  Kind kind = Kind::kRegister;
  trace::RegisterFile file = trace::RegisterFile::kGeneral;
  std::uint8_t index = 0;
  const ddg::Access* access = nullptr;  // memory: the load; none if it loaded from several objects
};

class LoopReads {
 public:
  /// Both must outlive this.
  LoopReads(const LoopFlow& flow, const ddg::Graph& graph);

  const LoopFlow& flow() const { return flow_; }
  const ddg::Graph& graph() const { return graph_; }
  const FlowNode& node(std::uint32_t n) const { return flow_.nodes[n]; }
  const trace::InstructionFacts& facts(std::uint32_t n) const { return *flow_.nodes[n].facts; }

  /// How often an instruction ran.
  std::uint64_t count(std::uint32_t n) const { return graph_.statements[flow_.nodes[n].at.statement].count; }

  /// The node of an instruction, or FlowEdge::kOutside.
  std::uint32_t node_at(const CodePoint& at) const;

  /// Of any instruction of the graph; null if there are none.
  const trace::InstructionFacts* facts_at(const CodePoint& at) const;

  /// Whether some of a dependence's instances, by level, lead from the loop to behind it or to a later entry of it.
  bool leaves_loop(ddg::StatementId to, const std::vector<std::uint64_t>& by_level) const;

  /// Whether a statement is known to be in the loop: one of its instructions is a node of the flow.
  bool is_in_loop(ddg::StatementId statement) const { return statements_.contains(statement); }

  /// All sources of an operand.
  std::vector<Source> sources(std::uint32_t node, std::uint8_t operand) const;

  /// Whether all that an operand gets from an instruction of the loop, in the same iteration, was made at the same
  /// iteration of all inner loops too.
  bool is_tight(std::uint32_t from, std::uint32_t to, std::uint8_t operand) const;

  /// The places in which what an operand reads came into the iteration, followed through copies, those of earlier
  /// iterations included. Nothing if they cannot be told.
  std::optional<std::vector<Place>> entries(std::uint32_t node, std::uint8_t operand) const;

  /// All that an operand gets from instructions outside of the loop; nothing if some of it has no instruction.
  std::optional<std::vector<const ddg::Dependence*>> outside(std::uint32_t node, std::uint8_t operand) const;

  /// Whether a store in the loop, but for those of `known` nodes, writes to an object, or to one that is not known.
  bool writes_otherwise(ddg::ObjectId object, const std::set<std::uint32_t>& known) const;

  /// Whether two operands, at the same iteration of all loops, read what was in one register or cell when that
  /// iteration began. May say no wrongly.
  bool came_in_together(std::uint32_t a, std::uint8_t operand_a, std::uint32_t b, std::uint8_t operand_b) const;

  /// Whether two memory operands, at the same iteration of all loops, read what was there when that iteration began,
  /// wherever that is.
  bool are_older(std::uint32_t a, std::uint8_t operand_a, std::uint32_t b, std::uint8_t operand_b) const;

  /// The load behind a memory operand, and the store of an instruction; null if there is none, or several objects.
  const ddg::Access* load(const CodePoint& at, std::uint8_t operand) const;
  const ddg::Access* store(const CodePoint& at) const;

  /// The store that wrote all bytes that a memory operand loads, and no others, each time and at the same iteration of
  /// all loops. May say none wrongly.
  std::optional<CodePoint> whole_store(std::uint32_t node, std::uint8_t operand) const {
    return whole_store(Read{flow_.nodes[node].at, operand});
  }

  /// Whether two accesses, at the same iteration, are of the same bytes. May say no wrongly.
  bool same_address(const ddg::Access& a, const ddg::Access& b) const;

  /// Whether an access stays at the same bytes over all iterations of the loop and of the loops in it, or only of those
  /// in it. May say no wrongly.
  bool stays(const ddg::Access& access) const { return is_constant(access, flow_.level); }
  bool stays_inside(const ddg::Access& access) const { return is_constant(access, flow_.level + 1u); }

  bool same_place(const Place& a, const Place& b) const;

 private:
  struct Read {
    CodePoint at;
    std::uint8_t operand = 0;
    friend auto operator<=>(const Read&, const Read&) = default;
  };
  struct Split {
    std::uint64_t carried = 0;
    std::uint64_t inside = 0;
    std::uint64_t before = 0;
    bool in_loop = false;  // the producer is
  };

  Split split(ddg::StatementId from, const std::vector<std::uint64_t>& by_level) const;
  std::span<const ddg::Dependence> dependences(const Read& read) const;
  std::span<const ddg::Origin> origins(const Read& read) const;
  std::optional<CodePoint> whole_store(const Read& read) const;
  bool is_older(const Read& read) const;
  std::optional<Read> innermost_entry(Read read) const;
  std::size_t dimensions(ddg::StatementId statement) const;
  Place place_of(const Read& read, const trace::InstructionFacts& facts) const;
  bool is_origin(std::uint32_t node) const;
  bool follow(const CodePoint& writer, std::vector<Read>& todo) const;
  bool is_constant(const ddg::Access& access, std::size_t from) const;

  const LoopFlow& flow_;
  const ddg::Graph& graph_;
  std::unordered_map<std::uint64_t, std::uint32_t> nodes_;
  std::unordered_set<ddg::StatementId> statements_;
};

/// The reads by which values come in: not for an address, to be kept or to be stepped.
std::vector<std::uint8_t> data_reads(const trace::InstructionFacts& facts);

/// The operand that an instruction passes on unchanged, if it is one that does only that.
std::optional<std::uint8_t> copied_operand(const trace::InstructionFacts& facts);

}  // namespace loopfold::poly
