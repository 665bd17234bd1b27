// Pass 1: what control did, as graphs. One control-flow graph per function, and the call graph.
//
// A function is what a call enters (or a thread, a signal handler or a coroutine starts with), named by the place of
// its first instruction. Its nodes are the places that ran in its frames. An edge is a local jump that happened, the
// step behind a call included, and the jumps by which longjmp and exceptions go on in it. Code that several functions
// jump into (without a call) is in the graphs of each.
//
// Exact for what is in the trace: every edge was taken, and every jump that was taken is an edge.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "structure/activations.h"
#include "structure/code_map.h"
#include "structure/digraph.h"
#include "support/result.h"
#include "trace/reader.h"

namespace loopfold::structure {

using FunctionId = std::uint32_t;  // dense, in the order of their first calls
inline constexpr FunctionId kNoFunction = 0xffffffff;

/// Bits: how a function was left.
enum LeftBy : std::uint8_t {
  kLeftByReturn = 1,     // or a tail call
  kLeftByUnwinding = 2,  // longjmp, an exception, the end of the thread
  kLeftByCut = 4,        // recording stopped while it was active: nothing that the program did
};

struct Function {
  PlaceId entry = kNoPlace;
  std::vector<PlaceId> places;  // by node of `graph`; node 0 is the entry
  Digraph graph;
  std::vector<NodeId> exits;       // where it was left, each once, increasing
  std::vector<std::uint8_t> left;  // by exit: how, bits of LeftBy
  std::vector<NodeId> gates;       // by node: add_gate(); kNoNode: none; empty: no node has one
};

struct CallSite {
  FunctionId caller = kNoFunction;
  NodeId node = kNoNode;  // of the caller's graph: where the call is
  FunctionId callee = kNoFunction;
  friend bool operator==(const CallSite&, const CallSite&) = default;
};

class ControlFlow {
 public:
  std::span<const Function> functions() const { return functions_; }
  /// Every (caller, node, callee) once, sorted.
  std::span<const CallSite> calls() const { return calls_; }
  /// Functions that threads, handlers and coroutines start with, each once.
  std::span<const FunctionId> roots() const { return roots_; }
  /// By place: does a function start there?
  const std::vector<std::uint8_t>& starts() const { return starts_; }

  FunctionId function_at(PlaceId entry) const { return function_at_[entry]; }
  /// The node for landing at `place`; kNoNode if that never happened.
  NodeId landing_of(FunctionId function, PlaceId place) const {
    if (ways_back_.contains(landing_key(functions_[function].entry, place))) return node_of(function, place);
    const auto found = shared_.find(landing_key(function, place));
    return found == shared_.end() ? kNoNode : found->second;
  }
  /// The node of `place` in a function's graph; kNoNode if it has none.
  NodeId node_of(FunctionId function, PlaceId place) const {
    const Owner& owner = owner_[place];
    if (owner.function == function) return owner.node;
    const auto found = shared_.find(std::uint64_t{function} << 32 | place);
    return found == shared_.end() ? kNoNode : found->second;
  }
  struct Owner {
    FunctionId function = kNoFunction;
    NodeId node = kNoNode;
  };
  /// The first function that came to the place, if one did, and its node.
  Owner owner(PlaceId place) const { return owner_[place]; }

  /// A *gate*: a node in front of a header, with its place, at which nothing runs. All edges to the header but those
  /// from `inner`, nodes in increasing order, lead to the gate now (merged_loops.h).
  void add_gate(FunctionId function, NodeId header, std::span<const NodeId> inner);
  NodeId gate_of(FunctionId function, NodeId node) const {
    const std::vector<NodeId>& gates = functions_[function].gates;
    return gates.empty() ? kNoNode : gates[node];
  }
  /// What a gate, or one in front of it, is the gate of; another node is that itself.
  NodeId behind_gates(FunctionId function, NodeId node) const;

 private:
  friend class ControlFlowBuilder;
  static std::uint64_t landing_key(std::uint32_t function, PlaceId place) {
    return std::uint64_t{function} << 32 | place | std::uint64_t{1} << 31;
  }
  std::vector<Function> functions_;
  std::vector<CallSite> calls_;
  std::vector<FunctionId> roots_;
  std::vector<std::uint8_t> starts_;
  std::vector<FunctionId> function_at_;          // by place
  std::unordered_set<std::uint64_t> ways_back_;  // landings that are no nodes of their own, by the function's place
  std::vector<Owner> owner_;                     // by place: the first function that has it
  std::unordered_map<std::uint64_t, NodeId> shared_;  // (function, place) of the others, and landings
};

/// Reads the whole trace, control only; again if a place that was jumped to turns out to be called later on. A trace
/// that is damaged inside is used up to there, and `damage` says so.
ControlFlow find_control_flow(const trace::Reader& reader, const CodeMap& code, std::string& damage,
                              const std::function<void(double)>& progress = {});

}  // namespace loopfold::structure
