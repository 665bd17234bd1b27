// What is known of a loop as a whole, for judging the levels that it is split into (structure/splits.h).
//
// Judged alone, a level may look worse than the loop that it is part of. The counter of the loop is an induction
// variable of the loop; along the levels it is affine, too, but if the last block is not whole that takes two pieces;
// and what the compiler hands round from iteration to iteration of the loop is handed from one entry of the innermost
// level to the next. What an iteration of the loop can have without the others, it can have in every level:
// - index values of the loop are index values of each level;
// - a use of a value (operand and lane of an instruction) of which the loop carries nothing that has to be kept, asks
//   for nothing at any level: its value is computable, can be loaded again, or was there before the loop.
// Other uses are judged by what the level itself carries. Only a loop without doubts vouches for its levels.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>

#include "poly/loop_flow.h"
#include "poly/verdicts.h"

namespace loopfold::poly {

struct WholeLoop {
  using Use = std::tuple<CodePoint, std::uint8_t, std::uint16_t>;  // operand, lane

  std::set<CodePoint> index;  // index values
  std::set<Use> kept;         // uses of what the loop carries and must keep
  std::set<CodePoint> reload;

  bool asks_for(CodePoint at, std::uint8_t operand, std::uint16_t lane) const {
    return kept.contains({at, operand, lane});
  }
};

/// False if there are doubts.
bool describe_whole(const JudgedLoop& judged, WholeLoop& into);

}  // namespace loopfold::poly
