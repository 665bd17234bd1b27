// `loopfold verify`: replays the trace, and re-proves what the profile claims.
#include <cstdio>
#include <string>

#include "cli/analysis.h"
#include "cli/progress.h"
#include "cli/structure.h"
#include "cli/terminal.h"
#include "cli/trace_commands.h"
#include "profile/json.h"
#include "support/print.h"
#include "verify/verify.h"

namespace loopfold::cli {

namespace {

constexpr const char* kDefaultDirectory = "loopfold.out";

class VerifyCommand : public Command {
 public:
  std::string name() const override { return "verify"; }
  std::string summary() const override { return "Replay the trace and re-prove every verdict by brute force"; }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
    app.add_flag("-q,--quiet", quiet_, "No progress, nothing on standard output: the status tells");
    app.add_flag("--stats", stats_, "Counts and times at the end");
  }

  int run(const CLI::App&) override {
    const Result<profile::Profile> profile = judged_profile();
    if (!profile) return report(profile.error());
    const Result<std::string> file = trace_file(directory_);
    if (!file) return report(file.error());
    trace::OpenOptions open;
    open.check_events = false;
    const Result<std::unique_ptr<trace::Reader>> reader = trace::Reader::open(*file, open);
    if (!reader) return report(reader.error());
    const Result<verify::Report> verified = verify_with_progress(**reader, *profile);
    if (!verified) return report({verified.error().kind, profile_path(directory_) + ": " + verified.error().message});
    const std::string text = format_ == "json" ? verify::report_json(*verified) : verify::report_text(*verified);
    if (!quiet_ || format_ == "json") std::fwrite(text.data(), 1, text.size(), stdout);
    const int status = finish_output();
    if (stats_)
      print_stderr("loopfold: stats: {} instructions, replayed {} times\n", grouped(verified->instructions),
                   verified->replays);
    if (status != kSuccess) return status;
    return verified->holds() ? kSuccess : kAnswerIsNo;
  }

 private:
  Result<profile::Profile> judged_profile() const {
    Result<profile::Profile> profile = folded_profile_of(directory_, quiet_);
    if (!profile || profile->judged) return profile;
    return fail(ErrorKind::kBadInput, profile_path(directory_) + ": has no verdicts; analyse again: loopfold analyze");
  }

  Result<verify::Report> verify_with_progress(const trace::Reader& reader, const profile::Profile& profile) const {
    ProgressLine line("replaying", !quiet_);
    verify::Options options;
    options.progress = [&](double share, std::uint64_t instructions) { line.show(share, instructions); };
    return verify::verify(reader, profile, options);
  }

  std::string directory_ = kDefaultDirectory;
  std::string format_ = "text";
  bool quiet_ = false;
  bool stats_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify() { return std::make_unique<VerifyCommand>(); }

}  // namespace loopfold::cli
