// The report as Markdown, for an issue or a page: the same words as on the terminal, in tables.
//
// Names are inert and cannot end a cell or start markup: what Markdown would act on is escaped.
#pragma once

#include <string>

#include "profile/profile.h"
#include "views/report_text.h"

namespace loopfold::views {

/// Width and colour do not matter.
std::string report_markdown(const profile::Profile& profile, const ReportOptions& options);

/// As plain text in a cell of a table.
std::string markdown_escaped(std::string_view text);

}  // namespace loopfold::views
