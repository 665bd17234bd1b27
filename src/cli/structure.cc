#include "cli/structure.h"

#include <sys/stat.h>

#include "cli/command.h"
#include "profile/json.h"

namespace loopfold::cli {

Result<profile::Profile> profile_of(const std::string& directory, const StructureOptions&) {
  struct stat info {};
  const std::string file = directory + "/profile.json";
  if (::stat(file.c_str(), &info) == 0) return profile::read_profile(file);
  const Result<std::string> trace = trace_file(directory);
  if (!trace) return tl::unexpected<Error>(trace.error());
  return fail(ErrorKind::kInternal, directory + ": finding the loops of a trace is not there yet");
}

}  // namespace loopfold::cli
