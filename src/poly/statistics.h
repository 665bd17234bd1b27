// How well a run was folded, in the numbers of the evaluation of TACO 2019 (table 5).
//
// Per kind of stream: points that went in, pieces that came out (#P), points in affine pieces (%A), and the most
// intermediate polyhedra (#MP_I) of one stream at a time, and summed over all streams. A piece is affine if no label
// has a TOP and its domain was not given up. For the table, an instruction instance counts as affine if its instruction
// does not access memory or if its access is in an affine piece: `instructions` is accesses and integer results
// together, with results of instructions that access memory left out of the percentage, since the access decides.
#pragma once

#include <cstdint>

#include "ddg/graph.h"

namespace loopfold::poly {

struct StreamStatistics {
  std::uint64_t streams = 0;
  std::uint64_t points = 0;
  std::uint64_t pieces = 0;
  std::uint64_t affine_points = 0;  // in affine pieces
  std::uint64_t exact_streams = 0;
  std::uint64_t max_intermediate = 0;  // of one stream
  std::uint64_t sum_intermediate = 0;  // over all streams: bounds what was live at any moment
  double affine_share() const {
    return points == 0 ? 1.0 : static_cast<double>(affine_points) / static_cast<double>(points);
  }
};

struct FoldStatistics {
  StreamStatistics domains;
  StreamStatistics accesses;
  StreamStatistics values;
  StreamStatistics dependences;
  StreamStatistics instructions;  // accesses and values
  double instructions_affine_share = 1.0;
};

FoldStatistics statistics(const ddg::Graph& graph);

}  // namespace loopfold::poly
