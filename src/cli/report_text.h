// How the commands that print a report have it look: `report` and `run`.
#pragma once

#include <string>

#include "profile/profile.h"
#include "views/report_text.h"

namespace loopfold::cli {

/// For standard output as it is: its width, its characters, colour as asked; and the next command for DIR.
views::ReportOptions report_options(const profile::Profile& profile, const std::string& directory,
                                    const std::string& color);

/// DIR and a space, as the argument of a command; nothing if it is the default.
std::string directory_argument(const std::string& directory);

}  // namespace loopfold::cli
