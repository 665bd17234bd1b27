// `loopfold trace check`: is the trace what a recording of a real execution can be? The rules are in trace/check.cc.
#include <fmt/format.h>

#include "cli/trace_commands.h"
#include "structure/function_facts.h"
#include "structure/vector_check.h"
#include "symbols/symbolizer.h"
#include "trace/check.h"
#include "trace/deep_check.h"

namespace loopfold::cli {

namespace {

constexpr std::size_t kMostProblems = 10;

class TraceCheckCommand : public Command {
 public:
  std::string name() const override { return "check"; }
  std::string summary() const override { return "Is the trace sound? Tests every rule of the format and of execution"; }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    app.add_flag("--deep", deep_, "Also expand all runs, encode the events again, and compare");
    app.add_flag("--iteration-vectors", vectors_,
                 "Also find the loops, and test that iteration vectors increase from event to event");
    app.add_flag("-q,--quiet", quiet_, "Print problems only; the exit status is the answer");
    app.footer("Exit status: 0 sound (a partial trace too, if what is there is sound), 1 not sound, 3 unreadable.");
  }

  int run(const CLI::App&) override {
    const Result<std::unique_ptr<trace::Reader>> reader = open_trace(directory_);
    if (!reader) return report(reader.error());
    const trace::CheckReport result = trace::check(**reader, kMostProblems);
    const Paint paint(stdout);
    if (result.sound() && deep_) {
      const trace::DeepReport deep = trace::deep_check(**reader);
      if (!deep.sound()) return not_sound(deep.problem, paint);
    }
    std::string more = deep_ ? "; encoded again, it is the same" : "";
    if (result.sound() && vectors_) {
      const structure::VectorCheck check = check_vectors(**reader);
      if (!check.problem.empty()) return not_sound(check.problem, paint);
      more += fmt::format("; iteration vectors increase over {} on {}", plural(check.parts, "block"),
                          plural(check.stacks, "stack"));
    }
    if (result.sound()) {
      if (!quiet_) fmt::print("{}{}\n", verdict(**reader, result, paint), more);
      return finish_output();
    }
    for (const trace::Problem& problem : result.problems) fmt::print("{}: {}\n", directory_, problem.describe());
    fmt::print("{}: {}\n", directory_, paint.bad(fmt::format("not sound: {}", how_many(result))));
    const int written = finish_output();
    return written == kSuccess ? int{kAnswerIsNo} : written;
  }

 private:
  int not_sound(const std::string& problem, const Paint& paint) const {
    fmt::print("{}: {}\n{}: {}\n", directory_, problem, directory_, paint.bad("not sound: 1 problem"));
    const int written = finish_output();
    return written == kSuccess ? int{kAnswerIsNo} : written;
  }

  static structure::VectorCheck check_vectors(const trace::Reader& reader) {
    symbols::Symbolizer symbolizer(reader.modules());
    return structure::check_vectors(reader, structure::find_structure(reader, structure::function_facts(symbolizer)));
  }

  std::string verdict(const trace::Reader& reader, const trace::CheckReport& result, const Paint& paint) const {
    std::string text =
        fmt::format("{}: {}: {}, {}, {}, {}, {}, {}", directory_,
                    result.partial ? paint.caution("sound but partial") : paint.good("sound"),
                    plural(result.instructions, "instruction"), plural(result.events, "event"),
                    plural(result.threads, "thread"), plural(result.side_events, "side event"),
                    plural(result.hidden_instructions, "hidden instruction"), short_bytes(reader.file_bytes()));
    if (result.partial) text += "; " + why_partial(reader);
    return text;
  }

  static std::string how_many(const trace::CheckReport& result) {
    if (result.problem_count <= kMostProblems) return plural(result.problem_count, "problem");
    return fmt::format("{} problems, the first {} are shown", result.problem_count, kMostProblems);
  }

  std::string directory_ = "loopfold.out";
  bool quiet_ = false;
  bool deep_ = false;
  bool vectors_ = false;
};

}  // namespace

std::unique_ptr<Command> make_trace_check() { return std::make_unique<TraceCheckCommand>(); }

}  // namespace loopfold::cli
