#include "cli/terminal.h"

#include <cstdlib>
#include <string_view>

namespace loopfold::cli {

views::Charset output_charset() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const set = std::getenv(name);
    const std::string_view value = set == nullptr ? "" : set;
    if (value.empty()) continue;
    const bool utf8 = value.find("UTF-8") != std::string_view::npos || value.find("utf8") != std::string_view::npos ||
                      value.find("utf-8") != std::string_view::npos || value.find("UTF8") != std::string_view::npos;
    return utf8 ? views::Charset::kUnicode : views::Charset::kAscii;
  }
  return views::Charset::kAscii;
}

}  // namespace loopfold::cli
