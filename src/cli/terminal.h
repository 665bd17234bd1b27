// What standard output can show: how wide it is, which characters, and whether in colour.
#pragma once

#include <cstddef>
#include <string_view>

#include "views/text.h"

namespace loopfold::cli {

/// From LC_ALL, LC_CTYPE and LANG: the first of these that is set counts.
views::Charset output_charset();

/// The terminal's width; if there is none, what COLUMNS says; else the usual one.
std::size_t output_width(std::size_t usual);

/// What `--color` asks for: "always", "never", or "auto", which is colour on a terminal unless NO_COLOR is set.
bool use_color(std::string_view asked);

}  // namespace loopfold::cli
