#include "views/source_text.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

namespace loopfold::views {

namespace {

constexpr std::size_t kMostLineBytes = 4096;  // what is longer is no source that a person reads

std::vector<std::string> candidates(const std::string& file, const std::string& directory) {
  std::vector<std::string> paths = {file};
  for (std::size_t at = 0; at < file.size();) {
    const std::size_t slash = file.find('/', at);
    if (slash != at) paths.push_back(directory + "/" + file.substr(at));
    if (slash == std::string::npos) break;
    at = slash + 1;
  }
  return paths;
}

std::optional<SourceText> read_lines(const std::string& path, std::int64_t line, int before, int behind) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  std::ifstream file(path);
  SourceText text;
  text.path = path;
  text.first = std::max<std::int64_t>(1, line - before);
  text.changed = info.st_mtim.tv_sec;
  std::int64_t number = 0;
  for (std::string one; number < line + behind && std::getline(file, one);) {
    number++;
    if (number >= text.first) text.lines.push_back(one.substr(0, kMostLineBytes));
  }
  if (number < line) return std::nullopt;
  return text;
}

}  // namespace

std::optional<SourceText> source_around(const profile::Source& source, int before, int behind,
                                        const std::string& directory) {
  if (source.file.empty() || source.line <= 0) return std::nullopt;
  for (const std::string& path : candidates(source.file, directory))
    if (std::optional<SourceText> text = read_lines(path, source.line, before, behind)) return text;
  return std::nullopt;
}

}  // namespace loopfold::views
