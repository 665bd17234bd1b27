#include "cli/command.h"
#include "support/print.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

namespace loopfold::cli {

int report(const Error& error) {
  print_stderr("loopfold: error: {}\n", error.message);
  return status_of(error);
}

const CLI::Validator& whole_number() {
  static const CLI::Validator validator(
      [](const std::string& text) {
        constexpr std::size_t kMostDigits = 9;
        const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        if (digits && text.size() <= kMostDigits) return std::string();
        return fmt::format("{} is not a whole number{}", text, digits ? " that makes sense here" : "");
      },
      "");
  return validator;
}

void warn(const std::string& message) { print_stderr("loopfold: warning: {}\n", message); }

Result<std::string> trace_file(const std::string& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) {
    if (errno == EACCES)
      return fail(ErrorKind::kEnvironment, directory + ": permission denied; ask its owner, or become root");
    return fail(ErrorKind::kBadInput,
                directory + ": no such directory; record a program first: loopfold record -- PROG");
  }
  if (S_ISREG(info.st_mode)) return directory;
  const std::string file = directory + "/trace.lft";
  if (::stat(file.c_str(), &info) != 0) {
    if (errno == EACCES)
      return fail(ErrorKind::kEnvironment, directory + ": permission denied; ask its owner, or become root");
    return fail(ErrorKind::kBadInput,
                directory + ": holds no trace.lft; record one with: loopfold record -o " + directory + " -- PROG");
  }
  return file;
}

}  // namespace loopfold::cli
