// The flow of values in one loop, with what copies carry followed to where it comes from.
//
// Nodes are the instructions of all statements in the loop, callees included, but for copies that the loop sees through
// (transparent copies). An edge is a use: the consumer's operand, and the node that made the value. Which copies are
// seen through, and which values are index values, is decided for this loop alone (verdicts.h says how). Values that
// were made before the loop was entered come from kOutside. Copies of one source loop (unrolled, peeled, vectorised,
// the rest) are one loop here: what goes from one copy to another is carried.
#pragma once

#include <cstdint>
#include <vector>

#include "ddg/graph.h"
#include "structure/loop_tree.h"
#include "trace/decode.h"

namespace loopfold::poly {

/// An instruction of a statement.
struct CodePoint {
  ddg::StatementId statement = ddg::kNoStatement;
  std::uint16_t instruction = 0;
  friend auto operator<=>(const CodePoint&, const CodePoint&) = default;
};

struct FlowNode {
  CodePoint at;
  const trace::InstructionFacts* facts = nullptr;  // none: an allocator, hidden code or a system call
  bool index = false;                              // its results are index values of the loop
  bool data_decided = false;                       // whether it runs is decided by data, in this loop
  bool copy = false;                               // it only passes a value on (and is not seen through)
  bool in_recurrence = false;                      // the loop carries a value from it to itself
  bool seen_through = false;                       // a copy that flow leads past, where it passes a value on
};

struct FlowEdge {
  static constexpr std::uint32_t kOutside = 0xffffffff;
  std::uint32_t from = kOutside;  // node
  std::uint32_t to = 0;           // node
  std::uint8_t operand = 0;       // of the consumer, as in ddg::Dependence
  std::uint16_t lane = 0;
  ddg::Dependence::Kind kind = ddg::Dependence::Kind::kRegister;
  bool address = false;  // read to form an address, and for nothing else
  bool behind_copies = false;
  ddg::ObjectId object = ddg::kUnknownObject;  // kMemory
  std::uint64_t carried = 0;                   // instances that the loop carries: from an earlier iteration of it
  std::uint64_t inside = 0;                    // from the same iteration (inner loops may carry them)
  std::uint64_t before = 0;                    // from before the loop was entered
  std::int64_t least = 0;                      // distance in iterations, of those carried
  std::int64_t greatest = 0;
};

struct LoopFlow {
  std::vector<structure::ContextId> loops;  // all copies of the loop in the binary: siblings
  std::uint16_t level = 0;                  // its coordinate in iteration vectors
  std::vector<FlowNode> nodes;
  std::vector<FlowEdge> edges;
  std::vector<std::vector<std::uint32_t>> in;   // by node: edges to it
  std::vector<std::vector<std::uint32_t>> out;  // by node: edges from it
};

}  // namespace loopfold::poly
