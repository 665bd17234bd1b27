// The loops of one region as a table for a terminal: one row per loop of the source, below it why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profile/profile.h"
#include "views/page.h"
#include "views/report_words.h"

namespace loopfold::views {

/// Its title, what it consists of, and its loops; those with less than `min_percent` of the operations are counted.
void add_region(Page& page, const ReportWords& words, const profile::Region& region, double min_percent);

/// "1 loop", "2 loops".
std::string plural(std::uint64_t number, std::string_view noun);

/// One digit behind the point, so that a column of them is in line; what is not zero does not look like it.
std::string aligned(double percent);

}  // namespace loopfold::views
