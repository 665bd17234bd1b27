// The recursive-component-set of a call graph: what the loop-nesting forest is for a control-flow graph
// (POLY-PROF 3.2).
//
// A component is a strongly connected component of the call graph with a cycle. Its entries are the functions that are
// called from outside of it, or by nobody. Its headers are chosen so that without the calls (inside it) of headers no
// cycle is left: an entry of every component, then, that function's calls taken away, of every component that is left
// in it, and so on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "structure/digraph.h"

namespace loopfold::structure {

using ComponentId = std::uint32_t;  // dense, in the order of the smallest function of each
inline constexpr ComponentId kNoComponent = 0xffffffff;

class RecursiveComponents {
 public:
  RecursiveComponents() = default;
  /// `roots` are called by nobody or from outside (main, thread functions, signal handlers): entries of their
  /// components. A component with neither a root nor a caller outside of it has its smallest function as entry.
  RecursiveComponents(const Digraph& calls, std::span<const NodeId> roots);

  std::size_t size() const { return functions_.size(); }
  /// kNoComponent for a function that is on no cycle; it is neither an entry nor a header of anything.
  ComponentId component_of(NodeId function) const { return component_[function]; }
  bool is_entry(NodeId function) const { return entry_[function]; }    // of its component
  bool is_header(NodeId function) const { return header_[function]; }  // of its component
  /// In increasing order.
  std::span<const NodeId> functions(ComponentId component) const { return functions_[component]; }

 private:
  std::vector<ComponentId> component_;
  std::vector<bool> entry_;
  std::vector<bool> header_;
  std::vector<std::vector<NodeId>> functions_;
};

}  // namespace loopfold::structure
