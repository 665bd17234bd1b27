// One region as the page reads it: loops with their verdicts and reasons, the new order, and, for drawing, statements,
// accesses, dependences, objects and source text.
//
// Sources are pairs [file, line] with the file's number in "files". What is left out of a large region is counted in
// "left_out": statements with fewest operations, accesses of those, dependences with an end in them or with fewest
// instances.
#pragma once

#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "profile/profile.h"
#include "views/report_words.h"

namespace loopfold::views {

struct RegionLimits {
  std::size_t statements = 1500;
  std::size_t accesses = 2500;
  std::size_t dependences = 2500;
  std::size_t map_bytes = 1500;  // a longer isl text is not drawn, and left out
  std::size_t source_lines = 3000;
};

struct RegionSources {
  std::string directory = ".";
  std::optional<std::time_t> recorded;
};

nlohmann::ordered_json region_document(const ReportWords& words, const profile::Region& region,
                                       const RegionSources& sources, const RegionLimits& limits = {});

}  // namespace loopfold::views
