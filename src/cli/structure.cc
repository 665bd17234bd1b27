// Finds the loops of a trace for the views, with progress on a terminal and costs where they are asked for.
#include "cli/structure.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <memory>
#include <optional>
#include <utility>

#include "cli/progress.h"
#include "cli/trace_commands.h"
#include "profile/json.h"
#include "structure/analysis.h"
#include "support/print.h"

namespace loopfold::cli {

namespace {

double per_second(std::uint64_t instructions, double seconds) {
  return seconds > 0 ? static_cast<double>(instructions) / seconds / 1e6 : 0;
}

void print_costs(const structure::Costs& costs) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  print_stderr("loopfold: stats: {} instructions, {} places in {} functions, {} loops, {} contexts, {} MB\n",
               grouped(costs.instructions), grouped(costs.places), grouped(costs.functions),
               grouped(costs.static_loops), grouped(costs.contexts), usage.ru_maxrss / 1024);
  print_stderr(
      "loopfold: stats: code {:.3f} s, pass 1 {:.3f} s ({:.0f} M instructions/s), loops {:.3f} s, pass 2 {:.3f} s "
      "({:.0f} M instructions/s), names {:.3f} s of CPU time\n",
      costs.code, costs.pass1, per_second(costs.instructions, costs.pass1), costs.loops, costs.pass2,
      per_second(costs.instructions, costs.pass2), costs.naming);
}

}  // namespace

std::optional<std::string> fresh_profile(const std::string& directory) {
  struct stat profile {};
  struct stat trace {};
  const std::string file = directory + "/profile.json";
  if (::stat(file.c_str(), &profile) != 0) return std::nullopt;
  if (::stat((directory + "/trace.lft").c_str(), &trace) != 0) return file;
  const auto time = [](const struct stat& info) { return std::pair(info.st_mtim.tv_sec, info.st_mtim.tv_nsec); };
  return time(profile) < time(trace) ? std::nullopt : std::optional(file);
}

Result<profile::Profile> profile_of(const std::string& directory, const StructureOptions& options) {
  if (const std::optional<std::string> file = fresh_profile(directory))
    return profile::read_profile(*file, profile::Parts::kTree);
  const Result<std::string> file = trace_file(directory);
  if (!file) return tl::unexpected<Error>(file.error());
  trace::OpenOptions open;
  open.check_events = false;
  const Result<std::unique_ptr<trace::Reader>> reader = trace::Reader::open(*file, open);
  if (!reader) return tl::unexpected<Error>(reader.error());
  structure::Costs costs;
  profile::Profile profile;
  {
    ProgressLine line("finding loops", !options.quiet);
    profile = structure::analyse(**reader, {[&line](double share) { line.show(share); }}, costs);
  }
  if (options.stats) print_costs(costs);
  if (options.warn && !options.quiet) {
    for (const profile::Quality& remark : profile.quality)
      if (remark.kind == "module") warn(remark.text);
  }
  return profile;
}

}  // namespace loopfold::cli
