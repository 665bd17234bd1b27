// Lines of a source file around a place, if the file can be found on this machine.
//
// Tried in order: the path as the debug information has it; then, below a directory (the current one unless another is
// given), ever shorter ends of that path, so that a tree that was moved or built elsewhere is found. The first file
// that can be read and is long enough counts; whether it is the one that was compiled is not known, so the time of its
// last change comes with it.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace loopfold::views {

struct SourceText {
  std::string path;
  std::int64_t first = 1;  // line
  std::vector<std::string> lines;
  std::time_t changed = 0;  // when the file was last written
};

/// So many lines before and behind; none if there is no such file.
std::optional<SourceText> source_around(const profile::Source& source, int before, int behind,
                                        const std::string& directory = ".");

}  // namespace loopfold::views
