// What is different between two runs: operations, verdicts, strides, orders, suggestions; loop by loop.
//
// From two profiles. Loops are paired as their nodes in the tree are (tree_match.h): two judged loops belong together
// if a node of one is paired with a node of the other. Whatever differs becomes a phrase; two loops of a nest whose
// trip counts have been exchanged are said to have changed places. Nothing is judged anew. Linear but for the matching.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "views/html_shares.h"
#include "views/report_words.h"
#include "views/tree_match.h"

namespace loopfold::views {

/// A loop on one side, with what is said of it.
struct LoopSide {
  const profile::Region* region = nullptr;
  const profile::Loop* loop = nullptr;
  std::uint64_t ops = 0;
  std::string where;
  std::string function;
  std::string verdict;
  std::string trips;
  std::string stride_summary;        // "4 next element, 1 stays"
  std::vector<std::string> strides;  // of its accesses along it: "load of b at product.c:12: +512 bytes"
};

struct LoopPair {
  std::optional<LoopSide> before;
  std::optional<LoopSide> after;
  std::vector<std::string> changes;  // one phrase each; none: it is as it was
};

/// A suggestion that only one of the two has.
struct SuggestionChange {
  const profile::Suggestion* suggestion = nullptr;
  std::string function;  // that its region is in
};

struct Diff {
  std::vector<MatchedNode> tree;
  std::vector<LoopPair> loops;  // most operations on either side first
  ParallelShares shares_before;
  ParallelShares shares_after;
  std::vector<SuggestionChange> gone;   // suggestions that are no longer made
  std::vector<SuggestionChange> fresh;  // and new ones
};

/// Both with everything in them (profile::Parts::kAll). `before` and `after` are words of these profiles.
Diff compare(const ReportWords& before, const ReportWords& after);

/// "-12.5 %", "+3.1 %", "the same", "x 2.4".
std::string change_text(std::uint64_t before, std::uint64_t after);

}  // namespace loopfold::views
