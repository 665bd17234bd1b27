// Printing to standard error that cannot fail: a full or closed one loses the text, not the program's status.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace loopfold {

template <typename... Args>
void print_stderr(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace loopfold
