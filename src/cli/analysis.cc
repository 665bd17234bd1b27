#include "cli/analysis.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "advise/advise.h"
#include "cli/progress.h"
#include "cli/structure.h"
#include "cli/trace_commands.h"
#include "fold/fold.h"
#include "profile/json.h"
#include "support/atomic_file.h"
#include "support/print.h"
#include "support/units.h"

namespace loopfold::cli {

namespace {

using Json = nlohmann::ordered_json;

double millions_per_second(std::uint64_t number, double seconds) {
  return seconds > 0 ? static_cast<double>(number) / seconds / 1e6 : 0;
}

std::uint64_t peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void print_streams(const char* name, const poly::StreamStatistics& streams, double affine_share) {
  print_stderr(
      "loopfold: stats: {}: {} streams, {} points, {} pieces, {:.2f} % of the points affine, at most {} intermediate "
      "polyhedra in one\n",
      name, grouped(streams.streams), grouped(streams.points), grouped(streams.pieces), 100 * affine_share,
      grouped(streams.max_intermediate));
}

Json json_of(const poly::StreamStatistics& streams, double affine_share) {
  return {{"streams", streams.streams},
          {"points", streams.points},
          {"pieces", streams.pieces},
          {"affine_points", streams.affine_points},
          {"affine_share", affine_share},
          {"exact_streams", streams.exact_streams},
          {"max_intermediate", streams.max_intermediate},
          {"sum_intermediate", streams.sum_intermediate}};
}

Json json_of(const poly::StageSeconds& seconds) {
  return {{"code", seconds.code},        {"pass1", seconds.pass1},           {"loops", seconds.loops},
          {"naming", seconds.naming},    {"choosing", seconds.choosing},     {"pass2", seconds.pass2},
          {"hidden", seconds.hidden},    {"describing", seconds.describing}, {"judging", seconds.judging},
          {"advising", seconds.advising}};
}

/// The whole first; it is elapsed time.
Json with_all(double all, const Json& stages) {
  Json json = {{"all", all}};
  json.update(stages);
  return json;
}

void warn_about_modules(const profile::Profile& profile) {
  for (const profile::Quality& remark : profile.quality)
    if (remark.kind == "module") warn(remark.text);
}

}  // namespace

std::string profile_path(const std::string& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) return directory + "/profile.json";
  const std::size_t slash = directory.find_last_of('/');
  return slash == std::string::npos ? "profile.json" : directory.substr(0, slash + 1) + "profile.json";
}

unsigned jobs_of(const AnalyzeOptions& options) {
  return options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
}

Result<Analysed> analyse_trace(const std::string& directory, const AnalyzeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Result<std::string> file = trace_file(directory);
  if (!file) return tl::unexpected<Error>(file.error());
  trace::OpenOptions open;
  open.check_events = false;
  const Result<std::unique_ptr<trace::Reader>> reader = trace::Reader::open(*file, open);
  if (!reader) return tl::unexpected<Error>(reader.error());
  poly::AnalysisOptions analysis;
  if (!fold::parse_variant(options.fold, analysis.fold.variant))
    return fail(ErrorKind::kUsage, fmt::format("--fold {}: no such way to fold", options.fold));
  analysis.max_memory = options.max_memory;
  analysis.max_statements = options.max_statements;
  analysis.verdicts = options.verdicts;
  analysis.by_runs = options.by_runs;
  analysis.min_percent = options.min_percent;
  analysis.pure = options.pure;
  analysis.exclude = options.exclude;
  analysis.jobs = jobs_of(options);
  if (options.advise)
    analysis.advise = options.advise;
  else if (options.advice)
    analysis.advise = [](const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                         profile::Profile& profile) { advise::advise(graph, context, flow, profile); };
  Analysed analysed;
  {
    ProgressLine line("analysing", !options.quiet);
    analysis.progress = [&](double share, std::uint64_t instructions) { line.show(share, instructions); };
    analysed.profile = poly::analyse(**reader, analysis, analysed.costs);
  }
  analysed.instructions = analysed.profile.program.instructions;
  analysed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!options.quiet) warn_about_modules(analysed.profile);
  for (const std::string& name : analysed.costs.unmatched_pure)
    warn(fmt::format("--pure {}: no function of this name was called; loopfold tree shows the names", name));
  for (const std::string& name : analysed.costs.unmatched_excluded)
    warn(fmt::format("--exclude {}: no function and no file of this name ran; loopfold tree shows the names", name));
  return analysed;
}

Result<Analysed> analyse_and_keep(const std::string& directory, const AnalyzeOptions& options) {
  Result<Analysed> analysed = analyse_trace(directory, options);
  if (!analysed) return analysed;
  const Result<void> kept =
      write_whole_file(profile_path(directory), profile::to_json_text(analysed->profile, jobs_of(options)));
  if (!kept && !options.quiet) warn(kept.error().message + "; the analysis is not kept");
  return analysed;
}

namespace {

Result<profile::Profile> profile_from_trace(const std::string& directory, const AnalyzeOptions& options) {
  Result<Analysed> analysed = analyse_and_keep(directory, options);
  if (!analysed) return tl::unexpected<Error>(analysed.error());
  return std::move(analysed->profile);
}

}  // namespace

Result<profile::Profile> folded_profile_of(const std::string& directory, bool quiet) {
  if (const std::optional<std::string> file = fresh_profile(directory)) {
    Result<profile::Profile> profile = profile::read_profile(*file);
    if (!profile || profile->folded) return profile;
    if (!trace_file(directory))
      return fail(ErrorKind::kBadInput,
                  fmt::format("{}: has a loop tree only, and there is no trace to analyse; record again", *file));
  }
  AnalyzeOptions options;
  options.quiet = quiet;
  return profile_from_trace(directory, options);
}

Result<profile::Profile> judged_profile_of(const std::string& directory, double min_percent, bool quiet) {
  if (const std::optional<std::string> file = fresh_profile(directory)) {
    Result<profile::Profile> profile = profile::read_profile(*file, profile::Parts::kReport);
    if (!profile || profile->judged) return profile;
    if (!trace_file(directory))
      return fail(ErrorKind::kBadInput,
                  fmt::format("{}: has no verdicts, and there is no trace to analyse; record again", *file));
  }
  AnalyzeOptions options;
  options.quiet = quiet;
  options.min_percent = min_percent;
  return profile_from_trace(directory, options);
}

Result<profile::Profile> whole_profile_of(const std::string& directory, bool quiet) {
  if (const std::optional<std::string> file = fresh_profile(directory)) {
    Result<profile::Profile> profile = profile::read_profile(*file);
    if (!profile || (profile->folded && profile->judged)) return profile;
    if (!trace_file(directory))
      return fail(ErrorKind::kBadInput,
                  fmt::format("{}: has no verdicts, and there is no trace to analyse; record again", *file));
  }
  AnalyzeOptions options;
  options.quiet = quiet;
  return profile_from_trace(directory, options);
}

bool holds_recording(const std::string& path) {
  struct stat info {};
  return ::stat((path + "/trace.lft").c_str(), &info) == 0 || ::stat((path + "/profile.json").c_str(), &info) == 0;
}

void print_costs(const Analysed& analysed) {
  const poly::AnalysisCosts& costs = analysed.costs;
  print_stderr("loopfold: stats: {} instructions in {:.3f} s ({:.1f} M/s), {} MB at the most\n",
               grouped(analysed.instructions), analysed.seconds,
               millions_per_second(analysed.instructions, analysed.seconds), peak_memory() >> 20);
  print_stderr("loopfold: stats: {} places in {} functions, {} loops, {} contexts, {} statements\n",
               grouped(costs.places), grouped(costs.functions), grouped(costs.static_loops), grouped(costs.contexts),
               grouped(analysed.profile.statements.size()));
  print_stderr(
      "loopfold: stats: code {:.3f} s, pass 1 {:.3f} s ({:.0f} M instructions/s), loops {:.3f} s, names {:.3f} s, pass "
      "2 {:.3f} s ({:.1f} M instructions/s), description {:.3f} s, verdicts {:.3f} s, advice "
      "{:.3f} s of CPU time\n",
      costs.cpu.code, costs.cpu.pass1, millions_per_second(analysed.instructions, costs.cpu.pass1), costs.cpu.loops,
      costs.cpu.naming, costs.cpu.pass2, millions_per_second(analysed.instructions, costs.cpu.pass2),
      costs.cpu.describing, costs.cpu.judging, costs.cpu.advising);
  print_stderr(
      "loopfold: stats: {} points in {} streams ({:.1f} M points/s), shadow {}, streams {}, {} collections, {} rounds "
      "at once\n",
      grouped(costs.ddg.points), grouped(costs.ddg.streams), millions_per_second(costs.ddg.points, costs.cpu.pass2),
      short_bytes(costs.ddg.shadow_bytes), short_bytes(costs.ddg.stream_bytes), costs.ddg.collections,
      costs.ddg.rounds);
  const poly::FoldStatistics& fold = costs.fold;
  print_streams("domains", fold.domains, fold.domains.affine_share());
  print_streams("accesses", fold.accesses, fold.accesses.affine_share());
  print_streams("values", fold.values, fold.values.affine_share());
  print_streams("dependences", fold.dependences, fold.dependences.affine_share());
  print_stderr("loopfold: stats: {} intermediate polyhedra at the ends of all streams\n",
               grouped(costs.max_intermediate));
}

std::string costs_json(const Analysed& analysed, const AnalyzeOptions& options) {
  const poly::AnalysisCosts& costs = analysed.costs;
  const poly::FoldStatistics& fold = costs.fold;
  const Json json = {
      {"fold", options.fold},
      {"instructions", analysed.instructions},
      {"statements", analysed.profile.statements.size()},
      {"seconds", with_all(analysed.seconds, json_of(costs.cpu))},
      {"wall", json_of(costs.wall)},
      {"bytes", {{"peak", peak_memory()}, {"shadow", costs.ddg.shadow_bytes}, {"streams", costs.ddg.stream_bytes}}},
      {"points", costs.ddg.points},
      {"streams", costs.ddg.streams},
      {"max_intermediate", costs.max_intermediate},
      {"domains", json_of(fold.domains, fold.domains.affine_share())},
      {"accesses", json_of(fold.accesses, fold.accesses.affine_share())},
      {"values", json_of(fold.values, fold.values.affine_share())},
      {"dependences", json_of(fold.dependences, fold.dependences.affine_share())},
      {"instruction_streams", json_of(fold.instructions, fold.instructions_affine_share)}};
  return json.dump(1) + "\n";
}

}  // namespace loopfold::cli
