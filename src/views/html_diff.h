// The page that compares two runs, and the same as one JSON document.
//
//     main   both programs, shares by verdict, every pair of loops with what changed, suggestions that went and came
//     tree   both trees in one, in the columns of html_tree.h, with the operations of the first run beside the second's
#pragma once

#include <string>
#include <vector>

#include "support/result.h"
#include "views/diff.h"
#include "views/html_page.h"

namespace loopfold::views {

std::string diff_json(const Diff& diff, const ReportWords& before, const ReportWords& after);

Result<std::string> html_diff(const Diff& diff, const ReportWords& before, const ReportWords& after);

}  // namespace loopfold::views
