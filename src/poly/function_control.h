// Control dependence of one function, and the ways out of its loops.
//
// Post-dominance looks at what happens until the function is left: in
//   for (;;) { if (a[i++] < 0) continue; k++; if (a[i] == 0) break; }
// the increment of k comes sooner or later, whatever the first branch does, so it does not depend on it. Whether it
// comes in this iteration does. So control dependence is also computed for one iteration of each loop: in the graph of
// the loop's nodes with the edges to its header taken for ways out. A node depends on whatever it depends on in any of
// these graphs. (A branch that decides only in which iteration of an inner loop a node runs counts for the loops around
// that one too: an over-approximation there.)
//
// Left out is what recording did: a function that was active when recording stopped was not left there.
//
// Cost: almost linear in the graph, times the depth of its loops, beside the size of the result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "structure/control_dependence.h"
#include "structure/structure.h"

namespace loopfold::poly {

class FunctionControl {
 public:
  FunctionControl(const structure::Structure& structure, structure::FunctionId function);

  /// How many ways control went on from a node: to other nodes, and out of the function.
  std::size_t ways(structure::NodeId node) const {
    return function_.graph.successors(node).size() + (left_[node] != 0 ? 1 : 0);
  }
  std::size_t successors(structure::NodeId node) const { return function_.graph.successors(node).size(); }
  bool left_at(structure::NodeId node) const { return left_[node] != 0; }
  /// Where the function was left, increasing.
  const std::vector<structure::NodeId>& left() const { return exit_nodes_; }
  bool returned_at(structure::NodeId node) const { return (left_[node] & structure::kLeftByReturn) != 0; }
  /// By longjmp, an exception or the end of the thread?
  bool unwound_at(structure::NodeId node) const { return (left_[node] & structure::kLeftByUnwinding) != 0; }

  /// What decides whether a node runs.
  struct Deciders {
    std::vector<structure::NodeId> nodes;  // with several ways on; increasing
    bool call = false;                     // and whatever decides that the function is called
  };
  Deciders deciders(structure::NodeId node) const;
  /// All deciders of deciders of the nodes, increasing; the nodes themselves only if they are some.
  std::vector<structure::NodeId> all_deciders(const std::vector<structure::NodeId>& nodes) const;

  /// Does it run in every iteration of its innermost loop that another one follows? Whatever decides how control gets
  /// there, the only other ways lead out of the loop.
  bool is_on_every_round(structure::NodeId node) const { return on_every_round_[node]; }

  /// The nodes of a loop from which control left it.
  const std::vector<structure::NodeId>& exits(structure::LoopId loop) const { return exits_[loop]; }

  /// How many functions are called at a node.
  std::uint32_t callees(structure::NodeId node) const { return callees_[node]; }
  /// Is a function of the same recursive component called at the node, or inside the loop?
  bool recurses(structure::NodeId node) const { return recurses_[node]; }
  bool loop_recurses(structure::LoopId loop) const { return loop_recurses_[loop]; }

 private:
  void find_exits(const structure::LoopForest& forest);
  void find_iterations(const structure::LoopForest& forest);
  void find_iteration(const structure::LoopForest& forest, structure::LoopId loop,
                      std::span<const structure::NodeId> nodes, std::vector<structure::NodeId>& number);
  void find_rounds(const structure::LoopForest& forest, structure::LoopId loop,
                   std::span<const structure::NodeId> nodes, std::vector<structure::NodeId>& number);
  void find_calls(const structure::Structure& structure, structure::FunctionId function);

  const structure::Function& function_;
  std::vector<std::uint8_t> left_;  // by node: bits of LeftBy, but for kLeftByCut
  std::vector<structure::NodeId> exit_nodes_;
  structure::PostDominators post_dominators_;
  structure::ControlDependence dependence_;
  std::vector<std::vector<structure::NodeId>> in_iteration_;  // by node: deciders in an iteration of a loop around it
  std::vector<bool> on_every_round_;                          // by node
  std::vector<std::vector<structure::NodeId>> exits_;         // by loop
  std::vector<std::uint32_t> callees_;                        // by node
  std::vector<bool> recurses_;                                // by node
  std::vector<bool> loop_recurses_;                           // by loop
};

}  // namespace loopfold::poly
