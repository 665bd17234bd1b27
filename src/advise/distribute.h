// Distribution: a loop that must keep its order, in parts of which some need not.
//
// A basic block is one statement for the scheduler, however many lines of the source it does. A person splits loops
// between lines. So the flow that a loop must keep (region_flow.h) is looked at line by line: lines that reach each
// other, over whatever the loop or loops inside it carry and over what flows within an iteration, belong together; what
// is left is a graph without cycles, and the loop may be split into one loop after the other along it: every flow then
// goes from an earlier loop to a later one, or stays as it was. A part is sequential if the loop carries a flow between
// its own lines, and parallel if not. As few parts as possible: a line goes to the earliest part of its kind that all
// before it allow.
//
// What a called function does is on the line of the call. Values that can be computed anew (counters, addresses) belong
// to no line. Exact with respect to the flow, as the verdicts are; memory reuse is another matter, as everywhere here:
// what is handed from one part to another in a register or a scalar needs an array.
//
// A loop that data decide to leave, or about which something is not known, is not split. Linear in the flow of the loop
// and of those in it, times the depth.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/region_flow.h"
#include "profile/profile.h"

namespace loopfold::advise {

struct LineFlow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  bool carried = false;  // by the loop that is to be split
};

/// One loop after the split.
struct Part {
  bool parallel = false;
  std::vector<std::uint32_t> lines;  // increasing
};

/// Of so many lines, in the order in which they must run.
std::vector<Part> split(std::size_t lines, std::span<const LineFlow> flows);

struct Distribution {
  std::uint32_t node = 0;  // of the loop
  struct Piece {
    bool parallel = false;
    std::vector<profile::Source> lines;
    double ops = 0;  // instructions
  };
  std::vector<Piece> pieces;  // at least two
  double ops = 0;             // of the loop, what belongs to no line included
  /// Lines whose values are handed to another piece, and not through an array.
  std::vector<profile::Source> handed_on;
};

/// For the loops of a region that keep their order and can be split, so that some of it need not.
std::vector<Distribution> find_distributions(const ddg::Graph& graph, const poly::Context& context,
                                             const poly::RegionFlow& flow, const profile::Region& region,
                                             const profile::Profile& profile);

}  // namespace loopfold::advise
