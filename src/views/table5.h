// POLY-PROF's Table 5 for one run: a row per region and one for all of them, with the paper's columns.
//
//     #V, #E                statements of the region, and dependences between them, after folding (the paper counts
//                           instances)
//     %Aff                  operations of statements of which everything is exact
//     %ops, %Mops, %FPops   operations of the program; of the region: memory and floating point
//     interproc.            Y if the region calls functions
//     static                what would stop a static compiler: the letters of the paper's "Reasons why Polly failed"
//     skew ... fusion       what the region's schedule makes of it; - where none was found
//
// The total adds counts up, weighs shares of a region by its operations (those of the reuse of accesses by its memory
// operations), and takes the greatest of depths. It covers the regions that are listed; regions without a schedule do
// not count where one is needed.
#pragma once

#include <span>
#include <string>

#include "profile/profile.h"
#include "views/page.h"
#include "views/report_words.h"

namespace loopfold::views {

/// As a table of Markdown, with what the letters mean below it.
std::string table5_markdown(const ReportWords& words, std::span<const profile::Region* const> regions);

/// For a terminal: two tables, so that they are not too wide.
void add_table5(Page& page, const ReportWords& words, std::span<const profile::Region* const> regions);

}  // namespace loopfold::views
