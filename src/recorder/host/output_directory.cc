#include "recorder/host/output_directory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace loopfold::recorder {

namespace {

namespace fs = std::filesystem;

bool is_trace(const fs::path& directory) {
  std::ifstream file(directory / "trace.lft", std::ios::binary);
  char magic[8] = {};
  return file.read(magic, sizeof magic) && std::memcmp(magic, "LOOPFOLD", sizeof magic) == 0;
}

tl::unexpected<Error> refuse(const std::string& thing, const std::string& why) {
  return fail(ErrorKind::kEnvironment, fmt::format("{}: {}", thing, why));
}

Result<void> create(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return refuse(directory, fmt::format("cannot create it ({}); choose another with -o DIR", error.message()));
  }
  return {};
}

}  // namespace

Result<void> prepare_output(const std::string& name) {
  std::string trimmed = name;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const fs::path directory(trimmed);
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (status.type() == fs::file_type::not_found) return create(directory);
  if (!fs::is_directory(status)) return refuse(name, "exists and is not a directory; choose another with -o DIR");
  const bool empty = fs::is_empty(directory, error);
  if (error) return refuse(name, fmt::format("cannot be read ({}); choose another with -o DIR", error.message()));
  if (empty) {
    if (::access(directory.c_str(), W_OK) != 0) {
      return refuse(name, fmt::format("cannot be written ({}); choose another with -o DIR", std::strerror(errno)));
    }
    return {};
  }
  if (!is_trace(directory)) {
    return refuse(name, "holds something else than a Loopfold trace; choose another with -o DIR");
  }
  const fs::path old = directory.string() + ".old";
  if (fs::exists(old, error)) {
    if (!is_trace(old)) return refuse(old, "is in the way of keeping the earlier trace, and is no trace; move it away");
    fs::remove_all(old, error);
    if (error) return refuse(old, fmt::format("cannot be replaced ({}); move it away", error.message()));
  }
  fs::rename(directory, old, error);
  if (error) return refuse(name, fmt::format("cannot be moved to {} ({})", old.string(), error.message()));
  return create(directory);
}

}  // namespace loopfold::recorder
