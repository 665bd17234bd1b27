#include "recorder/host/split_dwarf.h"

#include <sys/stat.h>

#include <cstdlib>
#include <deque>
#include <set>
#include <sstream>
#include <vector>

namespace loopfold::recorder {

namespace {

std::vector<std::string> library_directories(const std::string& program) {
  std::vector<std::string> directories;
  const char* variable = std::getenv("LD_LIBRARY_PATH");
  std::istringstream path(variable != nullptr ? variable : "");
  for (std::string directory; std::getline(path, directory, ':');) directories.push_back(directory);
  const std::size_t slash = program.rfind('/');
  if (slash != std::string::npos) {
    directories.push_back(program.substr(0, slash));
    directories.push_back(program.substr(0, slash) + "/../lib");
  }
  return directories;
}

}  // namespace

std::string find_split_dwarf(const std::string& path, const symbols::ElfFile& program) {
  if (program.split_dwarf) return path;
  // The system's libraries are not built that way; only directories that people build into are searched.
  const std::vector<std::string> directories = library_directories(path);
  std::deque<std::string> wanted(program.needed.begin(), program.needed.end());
  std::set<std::string> seen(wanted.begin(), wanted.end());
  while (!wanted.empty()) {
    const std::string name = wanted.front();
    wanted.pop_front();
    for (const std::string& directory : directories) {
      const std::string file = directory + "/" + name;
      struct stat info {};
      if (::stat(file.c_str(), &info) != 0) continue;
      const Result<symbols::ElfFile> elf = symbols::inspect_elf(file);
      if (!elf || !elf->is_elf) continue;
      if (elf->split_dwarf) return file;
      for (const std::string& needed : elf->needed) {
        if (seen.insert(needed).second) wanted.push_back(needed);
      }
      break;
    }
  }
  return "";
}

}  // namespace loopfold::recorder
