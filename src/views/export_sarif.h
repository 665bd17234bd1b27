// Suggestions as SARIF 2.1.0, for code hosts and editors: `loopfold export --format sarif`.
//
// One rule per kind of suggestion (LF-PAR, ...), one result per suggestion that is legal or may be. A result's message
// is the suggestion's title, what it requires and how its gain was estimated; its location is its first line, the
// others are related locations. Its level is "warning" if it is legal, else "note": it has to be looked at before it is
// done. What weakens the recording is a notification of the run. Files are named as the debug information has them: a
// path from the root as a file: URI, others relative. Text is what the profile holds; JSON escapes it.
#pragma once

#include <string>

#include "profile/profile.h"

namespace loopfold::views {

std::string sarif_text(const profile::Profile& profile);

/// One line about a rule: "Run a loop in parallel"; of a rule that is not known: its name.
std::string rule_summary(const std::string& rule);

/// "/a b.c" -> "file:///a%20b.c", "a.c" -> "a.c".
std::string uri_of(const std::string& file);

}  // namespace loopfold::views
