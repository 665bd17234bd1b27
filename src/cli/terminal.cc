#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "support/units.h"

namespace loopfold::cli {

namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::size_t output_width(std::size_t usual) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::optional<std::uint64_t> columns = parse_count(std::string(variable("COLUMNS")));
  return columns && *columns > 0 && *columns < 10000 ? static_cast<std::size_t>(*columns) : usual;
}

bool use_color(std::string_view asked) {
  return asked == "always" || (asked == "auto" && ::isatty(STDOUT_FILENO) != 0 && variable("NO_COLOR").empty());
}

views::Charset output_charset() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    const bool utf8 = value.find("UTF-8") != std::string_view::npos || value.find("utf8") != std::string_view::npos ||
                      value.find("utf-8") != std::string_view::npos || value.find("UTF8") != std::string_view::npos;
    return utf8 ? views::Charset::kUnicode : views::Charset::kAscii;
  }
  return views::Charset::kAscii;
}

}  // namespace loopfold::cli
