// Control dependence of one function, and the ways out of its loops.
//
// Left out is what recording did: a function that was active when recording stopped was not left there.
#pragma once

#include <cstdint>
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
  /// The nodes at which the function was left by longjmp, an exception or the end of the thread.
  const std::vector<structure::NodeId>& unwound() const { return unwound_; }
  bool unwound_at(structure::NodeId node) const { return (left_[node] & structure::kLeftByUnwinding) != 0; }

  /// What decides whether a node runs.
  struct Deciders {
    std::vector<structure::NodeId> nodes;  // with several ways on; increasing
    bool call = false;                     // and whatever decides that the function is called
  };
  Deciders deciders(structure::NodeId node) const;
  /// All deciders of deciders of the nodes, increasing; the nodes themselves only if they are some.
  std::vector<structure::NodeId> all_deciders(const std::vector<structure::NodeId>& nodes) const;

  /// The nodes of a loop from which control left it.
  const std::vector<structure::NodeId>& exits(structure::LoopId loop) const { return exits_[loop]; }

  /// How many functions are called at a node.
  std::uint32_t callees(structure::NodeId node) const { return callees_[node]; }
  /// Is a function of the same recursive component called at the node, or inside the loop?
  bool recurses(structure::NodeId node) const { return recurses_[node]; }
  bool loop_recurses(structure::LoopId loop) const { return loop_recurses_[loop]; }

 private:
  void find_exits(const structure::LoopForest& forest);
  void find_calls(const structure::Structure& structure, structure::FunctionId function);

  const structure::Function& function_;
  std::vector<std::uint8_t> left_;  // by node: bits of LeftBy, but for kLeftByCut
  std::vector<structure::NodeId> unwound_;
  structure::PostDominators post_dominators_;
  structure::ControlDependence dependence_;
  std::vector<std::vector<structure::NodeId>> exits_;  // by loop
  std::vector<std::uint32_t> callees_;                 // by node
  std::vector<bool> recurses_;                         // by node
  std::vector<bool> loop_recurses_;                    // by loop
};

}  // namespace loopfold::poly
