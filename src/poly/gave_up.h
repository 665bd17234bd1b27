// What of a run is not known exactly, by name and with the share of the run that it concerns.
//
// A stream that was widened or given up says so itself, but there may be thousands of them. Here they are put together
// by what a person would call them: "address of the load at hist.c:12", "domain of hist.c:12", "dependence hist.c:9 ->
// hist.c:12", each with one reason. Where no lines are known, things of one function with one reason are one entry. The
// share is that of the instructions which are concerned, each counted once however many operands and lanes it has.
// Integer results are listed only if their points were given up: that a value is not affine is a fact about the
// program, not about the analysis. Sorted by share; deterministic.
//
// Irregular programs have thousands of them, and nobody reads that. Past fifty, the twenty-five with the largest shares
// stay as they are, the others are put together by function and reason ("3 domains, 12 dependences in luaV_execute
// (lua5.4)"), and if these are too many, the smallest of them become one. Shares stay right: an instruction counts once
// in each entry.
#pragma once

#include "ddg/graph.h"
#include "poly/describe.h"
#include "profile/profile.h"

namespace loopfold::poly {

void add_gave_up(const ddg::Graph& graph, const Context& context, profile::Profile& profile);

/// Instructions executed for which some address, domain or dependence is not exact, or that have no statement.
std::uint64_t inexact_instructions(const ddg::Graph& graph);

}  // namespace loopfold::poly
