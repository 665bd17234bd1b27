// A nest of loops as a polyhedral program: groups of statements, their domains, and the dependences between them.
//
// A *nest* is a loop of the source (all its copies in the binary) with everything inside it. Its coordinates are those
// of the loops from it on; the loops around it stay as they are, so only what happens at equal iterations of them
// counts. Statements in which nothing is left to schedule, because all that they do can be computed anew anywhere
// (index values, loop control, copies), are left out.
//
// Statements are *grouped*: those that are directly in one loop and hand values to each other in registers, or decide
// about each other, belong together, unless an inner loop stands between them. Which of them stand before an inner loop
// and which behind it is found from the flow itself: a group's *segment* is one more than that of every inner loop that
// it needs something of. Groups that need each other both ways are one.
//
// Dependences are isl maps from producer to consumer. One that the graph has is exact where folding is; one through
// copies, or by a decision, has equal coordinates around, the measured distance along the loop that carries it, and is
// open otherwise. All are over-approximations: what they allow is allowed. A data-decided exit puts all later
// iterations behind it. What an opaque loop contains cannot be one program: ask for the nests in it.
//
// Cost: isl builds some tenths of a millisecond's worth per dependence; everything else is linear.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/isl.h"
#include "poly/region_flow.h"

namespace loopfold::poly {

struct Group {
  std::string name;                          // of its tuple in isl: "G0"
  std::vector<ddg::StatementId> statements;  // increasing
  std::vector<structure::ContextId> loops;   // by coordinate
  Isl<isl_set> domain;                       // of all its statements
  std::vector<Isl<isl_set>> domains;         // by statement
};

struct ProgramDependence {
  std::uint32_t from = 0;  // group
  std::uint32_t to = 0;
  Isl<isl_map> map;
  const KeptFlow* flow = nullptr;                     // none: an exit
  std::vector<const KeptFlow*> more;                  // others that go the same way
  structure::ContextId loop = structure::kNoContext;  // that carries it, if one does
  bool uniform = false;                               // the distance is the same everywhere
  std::size_t equal = 0;                              // so many coordinates are the same at both ends,
  bool later = false;                                 // and the next one is greater at the consumer
  bool all = false;  // nothing else is known: all pairs of instances of the two groups for which that holds
};

struct Program {
  std::vector<structure::ContextId> roots;  // the copies of the nest's loop
  std::size_t prefix = 0;                   // coordinates of loops around it, in the vectors that a profile shows
  std::vector<Group> groups;
  std::vector<ProgramDependence> dependences;
  /// The order of groups and inner loops in a loop's body: by context of the loop (or kNoContext: the roots).
  struct Child {
    std::uint32_t group = 0;  // if loop is kNoContext
    structure::ContextId loop = structure::kNoContext;
  };
  std::vector<std::pair<structure::ContextId, std::vector<Child>>> bodies;
  std::string problem;  // not empty: it cannot be one program, because

  const std::vector<Child>& body(structure::ContextId loop) const;
};

struct ProgramLimits {
  std::size_t statements = 300;
  std::size_t dependences = 6000;
};

/// The program of a loop in `flow`. Without the isl objects if there is a problem.
Program build_program(isl_ctx* isl, const ddg::Graph& graph, const Context& context, const RegionFlow& flow,
                      const SourceLoop& nest, const ProgramLimits& limits);

}  // namespace loopfold::poly
