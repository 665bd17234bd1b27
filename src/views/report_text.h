// The report for a terminal: what ran, how good the recording is, what can be done to each region, per region a table
// with one row per loop, and suggestions.
//
// Quality comes first: it says how much the rest is worth. A loop's row has the loop's share of the operations, how
// often it goes round, its verdict and its place, indented by how deep it is nested; below it stands why. Text is
// wrapped to the width, and never wider than kMostWidth columns, whatever the terminal is: longer lines are hard to
// read. At the end, how much of the run is in loops of each verdict.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "views/page.h"
#include "views/text.h"

namespace loopfold::views {

struct ReportOptions {
  static constexpr std::size_t kMostWidth = Page::kMostWidth;
  double min_percent = 1.0;                                   // regions and loops with less are left out
  std::size_t top = std::numeric_limits<std::size_t>::max();  // regions
  std::size_t suggestions = 10;
  std::size_t width = kMostWidth;
  bool color = false;
  Charset charset = Charset::kUnicode;
  bool table5 = false;       // the numbers of POLY-PROF's Table 5 instead of verdicts
  bool legend = true;        // footnotes and the next command
  std::string next_command;  // empty: none
};

/// Those that the options ask for, in order.
std::vector<const profile::Region*> shown_regions(const profile::Profile& profile, const ReportOptions& options);

std::string report_text(const profile::Profile& profile, const ReportOptions& options);

}  // namespace loopfold::views
