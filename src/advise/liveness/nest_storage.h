// The storages of a nest, over its units: variables in memory, and scalars that the compiler keeps in registers.
//
// Memory: the accesses and the flow of the graph, as isl maps. A variable that is declared in the body of a loop has
// its cells once per iteration of it. Counters of loops are left out: a new order has counters of its own. Registers:
// the flow that a new order must keep (poly/region_flow.h) and that goes through registers from one unit's instance to
// another; all definitions that share a use are one scalar. Flow that goes through a stack slot is in memory.
//
// Exact where folding is. Where an address or a flow is not exact, maps hold more than happened; `doubt` says which
// access that is. If even the order as written is in conflict then, nothing can be said, and the storage says so.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "advise/liveness/conflicts.h"
#include "advise/liveness/nest_units.h"
#include "advise/liveness/storage.h"
#include "advise/liveness/variables.h"
#include "poly/region_flow.h"

namespace loopfold::advise::liveness {

struct NestStorage {
  Storage storage;
  std::string doubt;        // not empty: not exact, because
  bool named = false;       // by the source, so that a clause can use it
  std::string clause_name;  // if it is another one there
  bool automatic = false;   // the compiler's own, and so private wherever iterations are
  std::optional<ddg::ObjectId> object;
  std::uint64_t at = 0;                      // an instruction that stores to it
  std::set<structure::ContextId> tested_by;  // loops whose tests read it: it may be their counter
  std::shared_ptr<SameCells> cells;          // of the storage
};

/// A counter that a loop of the nest keeps in memory, by name.
struct Counter {
  std::string name;
  std::set<structure::ContextId> loops;  // that test it
  bool born_inside = false;              // declared in the body of the nest's loop
};

struct NestStorages {
  std::vector<NestStorage> all;
  std::vector<Counter> counters;
  std::string unknown;  // not empty: there is something that may use any memory
};

/// What is accessed in the nest, and which statements that concerns.
struct NestAccesses {
  std::vector<Variable> variables;  // that are stored to, without counters
  std::vector<Counter> counters;
  std::set<ddg::StatementId> statements;
  std::string unknown;
};
NestAccesses find_accesses(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                           const poly::SourceLoop& nest, Locals& locals);

/// `webs`: those in registers (register_webs.h). Once isl has failed at something, nothing more is looked at: who gave
/// it a budget takes it for used up.
NestStorages find_storages(isl_ctx* isl, const ddg::Graph& graph, const poly::Context& context,
                           const poly::RegionFlow& flow, const NestAccesses& accesses, const NestUnits& units,
                           std::vector<NestStorage> webs, const Times& written, Locals& locals);

/// When the units run as written.
Times written_times(const NestUnits& units);

}  // namespace loopfold::advise::liveness
