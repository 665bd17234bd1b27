// What the environment says about the characters that standard output can show.
#pragma once

#include "views/text.h"

namespace loopfold::cli {

/// From LC_ALL, LC_CTYPE and LANG: the first of these that is set counts.
views::Charset output_charset();

}  // namespace loopfold::cli
