// The nests of a region, each with the order that was chosen for it.
//
// A region is tried as one nest. If it cannot be one (a loop in doubt, recursion, too many statements), its outermost
// loop stays as it is, and the loops directly inside it are tried one by one, if they have enough of the operations;
// and so on. What is then left has the verdicts of its loops, and the reason why there is no more.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "advise/choose.h"
#include "poly/program.h"

namespace loopfold::advise {

struct NestPlan {
  poly::SourceLoop loop;
  std::vector<std::pair<structure::ContextId, std::int64_t>> outer;  // loops around it that stay, and the place in each
  poly::Program program;
  std::vector<GroupFacts> facts;
  Choice choice;
  double ops = 0;  // instructions
};

/// A loop that stays as it is.
struct Opaque {
  structure::ContextId loop = structure::kNoContext;
  std::string why;
};

struct RegionPlan {
  poly::IslContext isl;  // before what lives in it
  std::vector<NestPlan> nests;
  std::vector<Opaque> opaque;
  std::vector<Opaque> gave_up;  // nests for which no order was found
  bool timed_out = false;
};

struct PlanLimits {
  poly::ProgramLimits program;
  std::uint64_t building = 500'000;      // operations of isl, for the program of a nest
  std::uint64_t operations = 3'000'000;  // of isl, for each try
  double min_share = 0.01;               // of the program's operations, for nests inside others
};

RegionPlan plan_region(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                       const profile::Region& region, const profile::Profile& profile, const PlanLimits& limits);

}  // namespace loopfold::advise
