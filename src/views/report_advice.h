// The two parts of a report that are about change: a table of regions with what can be done to each, and suggestions.
//
// The table has one row per region: a word per transformation, and below it why not. Suggestions are those of the
// regions that are shown, the greatest gain first, each with its rule, its lines, what it needs, whether it is legal and
// how its gain was estimated. If there is nothing to gain, that is said.
#pragma once

#include <span>

#include "profile/profile.h"
#include "views/advice_words.h"
#include "views/page.h"

namespace loopfold::views {

/// Nothing is written if no schedule was looked for in any of the regions.
void add_transformations(Page& page, const AdviceWords& words, std::span<const profile::Region* const> regions);

/// So many at the most; what is left out is counted.
void add_suggestions(Page& page, const AdviceWords& words, std::span<const profile::Region* const> regions,
                     std::size_t most);

/// One suggestion behind a mark: "1. ".
void add_suggestion(Page& page, const AdviceWords& words, const RankedSuggestion& suggestion, std::string_view mark,
                    bool with_evidence);

/// Why there are no suggestions.
std::string nothing_to_gain(std::span<const profile::Region* const> regions);

/// Was a schedule looked for?
bool has_schedules(std::span<const profile::Region* const> regions);

}  // namespace loopfold::views
