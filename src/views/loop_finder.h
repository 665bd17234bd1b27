// Which loops of a profile a person means by "heat.c:17", "src/heat.c:17", "libm.so.6+0x1234", "heat.c:17@12" or "3".
//
// A number (or R and a number) is a region. FILE:LINE is every judged loop on that line, whatever context it ran in;
// FILE may be any end of the path that begins at a directory's name, and @NODE picks the loop of one node of the tree.
// The words by which a report calls a loop without lines are understood as well. If no loop starts on the line but
// code on it ran inside judged loops, the innermost of those are meant. Anything else is an error (usage) that names
// what is near: the loops of the file that are closest, or the files that have loops. Linear in the profile.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"
#include "support/result.h"
#include "views/report_words.h"

namespace loopfold::views {

struct FoundLoop {
  const profile::Region* region = nullptr;
  const profile::Loop* loop = nullptr;
};

struct Found {
  const profile::Region* region = nullptr;  // that was asked for; then there are no loops
  std::vector<FoundLoop> loops;             // most operations first
  bool around = false;                      // the loops are those around the line
};

Result<Found> find_loops(const ReportWords& words, const std::string& target);

/// What to ask for next: the loop of the best suggestion, or the region with most operations. Empty without regions.
std::string worth_explaining(const ReportWords& words);

/// Does `file` end with `wanted`, as a path?
bool names_file(const std::string& file, const std::string& wanted);

}  // namespace loopfold::views
