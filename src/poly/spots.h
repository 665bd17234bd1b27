// Where statements and calls are, by function and node: what control dependence, which is about nodes of a function's
// graph, needs to find the statements it is about.
//
// A *spot* is a node of a function in an activation, and an activation is named by its *base*: the context that the
// function was called in, with the loops of the function taken away. All statements of one spot are in one context,
// since the loops around a node are always entered together; there are several if code was replaced, or if an allocator
// or the system was called there. Where a branch of the same activation is, then, is a matter of exchanging the node.
//
// In a recursive component that does not hold: after a call of a header, and after the return from one, the context is
// that of the component, whoever is active. So the spots whose base is a context of kind kRecursion have the statements
// of their node in all contexts of the component below it, its *region*. A function of the component that is called
// there by a call that has a context of its own is at first at spots with that base, and these know what they are.
//
// Building sorts; looking up is a binary search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "ddg/graph.h"
#include "structure/loop_tree.h"
#include "structure/structure.h"

namespace loopfold::poly {

struct Spot {
  structure::ContextId base = structure::kNoContext;
  structure::FunctionId function = structure::kNoFunction;
  structure::NodeId node = structure::kNoNode;
  friend auto operator<=>(const Spot&, const Spot&) = default;
};

/// Numbers by spot.
class SpotTable {
 public:
  void add(const Spot& spot, std::uint32_t number) { entries_.push_back({spot, number}); }
  void finish();

  /// Increasing.
  std::span<const std::uint32_t> at(const Spot& spot) const;
  /// Where a spot's numbers begin among all: dense enough to be an index. size() if it has none.
  std::size_t index_of(const Spot& spot) const;
  std::size_t size() const { return numbers_.size(); }
  /// Every spot with this base once.
  std::vector<Spot> with_base(structure::ContextId base) const;

 private:
  struct Entry {
    Spot spot;
    std::uint32_t number = 0;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries_;
  std::vector<Spot> spots_;  // sorted, one for each number
  std::vector<std::uint32_t> numbers_;
};

class Spots {
 public:
  Spots(const ddg::Graph& graph, const structure::Structure& structure, const structure::LoopTree& tree);

  const SpotTable& statements() const { return statements_; }
  /// Contexts of kind kCall and kRecursion, by where their calls are.
  const SpotTable& callees() const { return callees_; }

  Spot of(const ddg::Statement& statement) const {
    return {base_of(statement.context, statement.function), statement.function, statement.node};
  }
  Spot of_call(const structure::Context& called) const {
    return {base_of(called.parent, called.caller), called.caller, called.node};
  }
  structure::ContextId base_of(structure::ContextId context, structure::FunctionId function) const;
  /// The component's context that a context of a function of a recursive component is in.
  structure::ContextId region_of(structure::ContextId context) const { return region_[context]; }
  bool recursive(structure::FunctionId function) const {
    return structure_.recursion.component_of(function) != structure::kNoComponent;
  }
  /// Code ran in the context of the spot (or, in a recursive component, in any context of the region), and has no
  /// statements: what is not there may have run all the same.
  bool thin(const Spot& spot) const;
  bool thin_region(structure::ContextId region) const { return thin_regions_[region]; }
  /// Is `inner` the context itself, or inside it?
  bool inside(structure::ContextId outer, structure::ContextId inner) const {
    return order_[inner] >= order_[outer] && order_[inner] < order_[outer] + size_[outer];
  }

 private:
  void find_order();
  void find_regions();
  void find_thin(const ddg::Graph& graph);
  /// At its spot, and at that of its region if it is another one.
  void add(SpotTable& table, const Spot& spot, std::uint32_t number);

  const structure::Structure& structure_;
  const structure::LoopTree& tree_;
  SpotTable statements_;
  SpotTable callees_;
  std::vector<structure::ContextId> region_;  // by context: the nearest kRecursion around it
  SpotTable thin_;                            // contexts, with their loops for nodes
  std::vector<bool> thin_regions_;            // by context
  std::vector<std::uint32_t> order_;          // by context: its number in a walk of the tree
  std::vector<std::uint32_t> size_;           // by context: of its subtree
};

}  // namespace loopfold::poly
