// What happened to a nest between two runs, in the few sentences that one would tell a colleague.
//
// From the pairs of loops of a Diff: those of one region on both sides are one nest. Of each nest that changed: whether
// loops changed places, what that did to the accesses and the verdict of the innermost loop and to the verdict of the
// outermost one, and to the operations. Nothing is judged anew. Linear in the pairs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "views/diff.h"

namespace loopfold::views {

struct NestStory {
  std::string function;
  std::string before;                  // "backprop.c:41"
  std::string after;                   // "backprop_by_hand.c:34"
  std::vector<std::string> sentences;  // one phrase each
  std::uint64_t ops = 0;               // the greater of both sides
};

/// Nests that changed, most operations first.
std::vector<NestStory> stories_of(const Diff& diff);

}  // namespace loopfold::views
