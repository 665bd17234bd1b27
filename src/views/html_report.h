// What the report page shows of a profile, as the documents that the page reads (web/src/model.ts has their types).
//
//     main       what ran, quality, shares by verdict, one row per region, ranked suggestions: all that is shown first
//     tree       the loop tree in columns: one array per field, names by number
//     region-N   loops, orders, statements, accesses, dependences, objects and source text of one region
//
// Nothing is judged here and names are inert. Sentences come from the same code as those of the terminal's report, so
// that page and terminal say the same.
//
// Large profiles are cut, the least important first, and the page says what is missing: the tree to its `most_nodes`
// nodes with most operations (a parent has at least as many as its child, so that is a tree), a region to so many
// statements, accesses and dependences, and regions to the first ones that fit into `most_bytes` together. Source
// text is read from the files as `explain` does, for lines that a region has something to say about, and some around.
#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "support/result.h"
#include "views/html_page.h"

namespace loopfold::views {

struct HtmlOptions {
  std::string source_directory = ".";
  std::optional<std::time_t> recorded;  // when; a source file that has changed since is said to have
  std::size_t most_nodes = 150'000;
  std::size_t most_bytes = 3'000'000;  // of all regions' documents, packed
};

/// The parts of a page for a profile with everything in it (profile::Parts::kAll).
std::vector<PagePart> report_parts(const profile::Profile& profile, const HtmlOptions& options);

/// The page itself.
Result<std::string> html_report(const profile::Profile& profile, const HtmlOptions& options);

}  // namespace loopfold::views
