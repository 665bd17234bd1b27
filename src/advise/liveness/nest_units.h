// A nest of loops, cut into the units that an order moves, with the order as written, literally.
//
// Units are the groups of the nest's polyhedral program (poly/program.h), cut where an inner loop stands between their
// statements in the source, and beside them single statements that are in no group, because all that they compute can
// be computed anew anywhere, but that store something other statements read: `s = 0` in front of a loop. Someone who
// moves loops moves these lines along.
//
// The order as written is that of Kelly's mapping (structure/loop_forest.h): where a loop, a call or a piece of code
// stands among what is around it. A time has 2d + 1 rows, places and counters in turn, outermost first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/program.h"

namespace loopfold::advise::liveness {

struct NestUnit {
  std::string name;                          // of its tuple: "U3"
  std::optional<std::uint32_t> group;        // of the program
  std::vector<ddg::StatementId> statements;  // in the order as written
  std::vector<structure::ContextId> loops;   // by coordinate
  poly::Isl<isl_set> domain;
  std::vector<std::int64_t> places;  // by level: before the first loop, in it, ...: one more than loops
};

/// Something that an order must keep: a dependence of the program, or flow between two units of one group.
struct UnitFlow {
  const poly::KeptFlow* flow = nullptr;  // none: a decision to leave a loop
  std::uint32_t from = 0;                // units
  std::uint32_t to = 0;
  poly::Isl<isl_map> map;
  bool again = false;  // another one between these units has the same map, and is as good to be kept
};

struct NestUnits {
  std::vector<NestUnit> all;  // in the order as written, as far as that is one: by first statement
  std::map<ddg::StatementId, std::uint32_t> unit_of;
  std::vector<UnitFlow> flows;
  std::size_t shift = 0;  // coordinates of a whole iteration vector that are not among a unit's
};

/// `also`: statements that are units if they are in no group.
NestUnits find_units(isl_ctx* isl, const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                     const poly::Program& program, const std::set<ddg::StatementId>& also);

/// The literal place of a statement among others: static indices from the root of the loop tree on, counters left out.
std::vector<std::uint32_t> place_of(const ddg::Graph& graph, const poly::Context& context, ddg::StatementId statement);

}  // namespace loopfold::advise::liveness
