// The folded dependence graph in the terms of a profile: statements, accesses, values, dependences and objects with
// domains and maps as isl text over canonical counters, names from the source, and what was given up.
//
// Nothing is lost but what a profile must not have: addresses of the run. Code is named by its file and the address in
// it, data by object and offset. Integer results keep their coefficients and lose their constants, which may be
// addresses; so do accesses to what has no object.
//
// Coordinates. The first coordinate of an iteration vector is the number of the stack (thread, handler, coroutine). It
// is left out where there was only one that started like this, so that an ordinary program has loops only.
//
// Register flow inside an instance is counted (Statement::edges), not listed: it is the same in every instance, is
// found again from the instructions, and would make up most of the profile.
//
// What is the same is said once: code that runs in several nodes of the tree, polyhedra in which an access has the same
// function, operands through which values flow in the same way between the same statements. Integer results that never
// change are left out.
//
// The order of everything is that of the graph, which is deterministic; so is the text. Cost: n log n in the size of
// the graph, which does not depend on the length of an affine run. Exact: as far as the pieces are, which is said per
// element, and once more, by name and with the share of the run that it concerns, in gave_up.
#pragma once

#include <cstdint>
#include <span>

#include "ddg/graph.h"
#include "poly/place_names.h"
#include "profile/profile.h"
#include "structure/loop_tree.h"
#include "structure/structure.h"
#include "symbols/symbolizer.h"

namespace loopfold::poly {

struct Context {
  const structure::LoopTree& tree;
  std::span<const std::uint32_t> nodes;  // by context: its node in Profile::tree (structure::describe)
  Locate locate;
  std::uint64_t hidden_instructions = 0;            // that ran and were not recorded, as far as known
  unsigned jobs = 1;                                // with more than one, `locate` is asked by several threads at once
  const structure::Structure* structure = nullptr;  // for what needs the order of code, or variables: may be missing
  symbols::Symbolizer* symbolizer = nullptr;
};

/// Adds what the graph says to a profile that has its program and tree.
void describe(const ddg::Graph& graph, const Context& context, profile::Profile& profile);

/// The node of the tree that each coordinate of a context's iteration vectors counts, outermost first; the first is
/// that of the stack.
std::vector<std::uint32_t> nodes_of_coordinates(const Context& context, structure::ContextId of);

/// Whether the first coordinate of a context's vectors is left out: only one stack started like this.
bool drops_first(const structure::LoopTree& tree, structure::ContextId context);

}  // namespace loopfold::poly
