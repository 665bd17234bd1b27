#include "cli/record_options.h"

#include <fmt/format.h>

#include <memory>

#include "cli/command.h"

namespace loopfold::cli {

namespace {

class UsageWithProgram : public CLI::Formatter {
 public:
  explicit UsageWithProgram(std::string command) : command_(std::move(command)) {}
  std::string make_usage(const CLI::App*, std::string) const override {
    return fmt::format("Usage: loopfold {} [OPTIONS] -- PROG ARGS...\n", command_);
  }

 private:
  std::string command_;
};

bool parse_limit(const std::string& option, const std::string& text, std::uint64_t& limit) {
  if (text.empty()) return true;
  const std::optional<std::uint64_t> value = parse_count(text);
  if (value && *value > 0) {
    limit = *value;
    return true;
  }
  report({ErrorKind::kUsage, fmt::format("{} {}: not a number like 500000, 500k or 2M", option, text)});
  return false;
}

}  // namespace

void RecordingOptions::describe(CLI::App& app, const std::string& command) {
  command_ = command;
  app.add_option("-o,--output", options_.out, "Directory for the trace; an earlier trace there is kept as DIR.old")
      ->type_name("DIR")
      ->capture_default_str();
  CLI::Option* from = app.add_option("--from", from_, "Start when FUNC is first entered (default: main)");
  CLI::Option* only = app.add_option("--only", only_, "Record only while FUNC is active, its callees included");
  CLI::Option* start = app.add_flag("--from-start", from_start_, "Start at the very first instruction, before main");
  from->type_name("FUNC")->excludes(only)->excludes(start);
  only->type_name("FUNC")->excludes(start);
  app.add_flag("--no-libs", options_.no_libs, "Only the program's own code; libraries are counted, not recorded");
  app.add_option("--max-instructions", max_instructions_, "Stop recording after N instructions; k, M, G may follow")
      ->type_name("N");
  app.add_option("--max-trace-size", max_trace_size_,
                 "Stop recording when the trace has SIZE bytes; k, M, G may follow")
      ->type_name("SIZE");
  app.add_flag("--follow-children", options_.follow_children, "Record child processes too, each in DIR.PID");
  app.add_flag("--naive", options_.naive,
               "One slot for every address and integer result (slow, large; for comparisons)");
  app.add_flag("-q,--quiet", options_.quiet, "Say nothing unless something goes wrong");
  app.add_flag("--stats", options_.stats, "Show counts and times at the end");
  app.add_flag("--checksum", options_.checksum, "Hash all events, for trace check to compare")->group("");
  app.add_flag("--verify-slots", options_.verify, "As --naive, and compare every derived value")->group("");
  app.add_flag("--keep-preload", options_.keep_preload, "Leave Valgrind's LD_PRELOAD in the environment")->group("");
  app.prefix_command();
  app.formatter(std::make_shared<UsageWithProgram>(command));
}

std::optional<std::vector<std::string>> RecordingOptions::program(const CLI::App& app) const {
  std::vector<std::string> argv = app.remaining();
  if (!argv.empty() && argv[0].front() == '-') {
    report({ErrorKind::kUsage, fmt::format("{}: no such option; see loopfold {} --help", argv[0], command_)});
    return std::nullopt;
  }
  argv.insert(argv.end(), program_.begin(), program_.end());
  if (!argv.empty()) return argv;
  report({ErrorKind::kUsage, fmt::format("{0}: no program given; write: loopfold {0} -- PROG ARGS", command_)});
  return std::nullopt;
}

std::optional<recorder::RecordOptions> RecordingOptions::options() {
  if (!parse_limit("--max-instructions", max_instructions_, options_.max_instructions) ||
      !parse_limit("--max-trace-size", max_trace_size_, options_.max_trace_bytes))
    return std::nullopt;
  using recorder::Scope;
  if (from_start_) options_.scope = Scope::kStart;
  if (!from_.empty()) options_.scope = Scope::kFrom;
  if (!only_.empty()) options_.scope = Scope::kOnly;
  options_.function = from_.empty() ? only_ : from_;
  if (options_.function == "main") {
    options_.scope = Scope::kMain;
    options_.function.clear();
  }
  options_.naive |= options_.verify;
  options_.given = given();
  return options_;
}

std::vector<std::string> RecordingOptions::given() const {
  std::vector<std::string> words;
  const auto flag = [&](bool set, const std::string& text) {
    if (set) words.push_back(text);
  };
  flag(from_start_, "--from-start");
  flag(!from_.empty(), "--from=" + from_);
  flag(!only_.empty(), "--only=" + only_);
  flag(options_.no_libs, "--no-libs");
  flag(options_.follow_children, "--follow-children");
  flag(options_.max_instructions != 0, fmt::format("--max-instructions={}", options_.max_instructions));
  flag(options_.max_trace_bytes != 0, fmt::format("--max-trace-size={}", options_.max_trace_bytes));
  flag(options_.naive, "--naive");
  return words;
}

}  // namespace loopfold::cli
