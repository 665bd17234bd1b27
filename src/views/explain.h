// The whole story of one loop, or of a region: `loopfold explain`.
//
// For a loop: its source, where it is in the tree, how often it goes round, the verdict with all its evidence, what its
// accesses do when it goes round, what the region's schedule makes of it, the nest before and after, its suggestions,
// and what all of this takes for granted. For a region: its loops, its schedule, the nest before and after, its
// suggestions. Nothing is judged here; all of it is in the profile, but the source text, which is read from the file
// if it can be found. Names are inert, the page is as wide as a report.
#pragma once

#include <ctime>
#include <optional>
#include <string>

#include "profile/profile.h"
#include "views/loop_finder.h"
#include "views/page.h"
#include "views/report_words.h"

namespace loopfold::views {

struct ExplainOptions {
  std::size_t width = Page::kMostWidth;
  bool color = false;
  std::string source_directory = ".";
  std::optional<std::time_t> recorded;  // when; a source file that has changed since is said to have
  std::size_t most_loops = 3;           // of one line in several contexts
};

/// `words` must be of a profile with everything in it (profile::Parts::kAll).
std::string explain_text(const ReportWords& words, const Found& found, const ExplainOptions& options);

}  // namespace loopfold::views
