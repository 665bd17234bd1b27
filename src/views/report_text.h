// The report for a terminal: what ran, how good the recording is, and per region a table with one row per loop.
//
// Quality comes first: it says how much the rest is worth. A row has the loop's share of the operations, how often it
// goes round, its verdict and its place, indented by how deep it is nested; below it stands why. Text is wrapped to the
// width, and never wider than kMostWidth columns, whatever the terminal is: longer lines are hard to read. At the end,
// how much of the run is in loops of each verdict.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "views/text.h"

namespace loopfold::views {

struct ReportOptions {
  static constexpr std::size_t kMostWidth = 100;
  double min_percent = 1.0;                                   // regions and loops with less are left out
  std::size_t top = std::numeric_limits<std::size_t>::max();  // regions
  std::size_t width = kMostWidth;
  bool color = false;
  Charset charset = Charset::kUnicode;
  bool legend = true;        // footnotes and the next command
  std::string next_command;  // empty: none
};

std::string report_text(const profile::Profile& profile, const ReportOptions& options);

/// The text in lines of so many columns at the most, broken at spaces, but not between a number and its %; a
/// longer word is cut.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, Charset charset = Charset::kUnicode);

}  // namespace loopfold::views
