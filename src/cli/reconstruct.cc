// `loopfold reconstruct`: affine loops from a bare trace of addresses.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "cli/analysis.h"
#include "cli/trace_commands.h"
#include "reconstruct/compress.h"
#include "reconstruct/deepen.h"
#include "reconstruct/input.h"
#include "reconstruct/recording.h"
#include "reconstruct/text.h"
#include "support/print.h"
#include "support/stopwatch.h"
#include "symbols/symbolizer.h"

namespace loopfold::cli {

namespace {

using reconstruct::Format;
using reconstruct::Instruction;

constexpr std::uint64_t kCompareUpTo = 256'000'000;

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

class ReconstructCommand : public Command {
 public:
  std::string name() const override { return "reconstruct"; }
  std::string summary() const override { return "Affine loops from a bare trace of addresses"; }

  void describe(CLI::App& app) override {
    app.add_option("TRACE", trace_,
                   "A trace of addresses (lackey, pinatrace, CSV or raw 64-bit numbers; - is standard input), or a "
                   "recording of Loopfold's (a directory)")
        ->capture_default_str();
    app.add_option("--at", at_, "Of a recording: only accesses of this line")->type_name("FILE:LINE");
    app.add_option("--ip", ip_, "Only this instruction")->type_name("ADDRESS");
    app.add_option("--input", input_, "What the trace is, if it should not be guessed")
        ->check(CLI::IsMember({"auto", "lackey", "pinatrace", "csv", "raw"}))
        ->capture_default_str();
    app.add_option("--format", format_,
                   "c (loops), isl (domain, access, schedule), json or table (a line per instruction)")
        ->check(CLI::IsMember({"c", "isl", "json", "table"}))
        ->capture_default_str();
    app.add_flag("--verify", options_.verify, "Generate the trace again from the result, and compare");
    app.add_flag("--predict", predict_,
                 "Show which share of the accesses was foretold, without and with the guess that "
                 "a loop of unknown length goes on");
    app.add_flag("--no-gamma", no_gamma_, "Do not use bounds to foretell addresses: try all loops at each one");
    app.add_option("--min-depth", min_depth_, "At least so many loops, by splitting, to show dimensions of arrays")
        ->type_name("N");
    app.add_option("--max-levels", options_.reconstruction.max_levels,
                   "Look for nests of at most so many loops (1 to 10)")
        ->check(CLI::Range(std::size_t{1}, reconstruct::kMaxLevels))
        ->capture_default_str();
    app.add_option("--max-tries", options_.reconstruction.max_tries, "Give a piece up after so many attempts")
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--tolerance", tolerance_, "Let so many percent of a piece's addresses be something else")
        ->check(CLI::Range(0.0, 50.0))
        ->type_name("PERCENT");
    app.add_option("--max-pieces", options_.max_pieces, "Keep so many pieces of each instruction")
        ->type_name("N")
        ->capture_default_str();
    app.add_flag("--skip-bad", options_.skip_bad, "Leave out lines that cannot be read");
    app.add_option("--jobs", options_.jobs, "Work on so many instructions at a time (0: one per processor)")
        ->type_name("N");
    app.add_option("--compress", compress_, "Write the trace, compressed by its loops, to this file")->type_name("OUT");
    app.add_option("--expand", expand_,
                   "TRACE is a compressed one: write the original to this file (- is standard output)")
        ->type_name("OUT");
    app.add_flag("-q,--quiet", quiet_, "No warnings, no remarks");
    app.add_flag("--stats", stats_, "Counts and times at the end");
    app.footer(
        "  valgrind --tool=lackey --trace-mem=yes ./prog 2>&1 | loopfold reconstruct -\n"
        "  loopfold reconstruct loopfold.out --at kernel.c:12 --format c --verify\n"
        "  loopfold reconstruct trace.csv --compress trace.lfrc; loopfold reconstruct trace.lfrc --expand -");
  }

  int run(const CLI::App&) override {
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe shows as a failed write
    if (options_.jobs == 0) options_.jobs = std::max(1U, std::thread::hardware_concurrency());
    options_.reconstruction.gamma = !no_gamma_;
    options_.reconstruction.tolerance = tolerance_ / 100;
    if (!ip_.empty()) {
      const std::optional<std::uint64_t> ip = parse_ip();
      if (!ip) return report({ErrorKind::kUsage, fmt::format("--ip {}: is not a number", ip_)});
      options_.only = ip;
    }
    if (input_ != "auto") options_.format = format_of(input_);
    if (!compress_.empty() && !expand_.empty())
      return report({ErrorKind::kUsage, "--compress and --expand: one at a time"});
    if (!compress_.empty()) return run_compress();
    if (!expand_.empty()) return run_expand();
    return run_reconstruct();
  }

 private:
  std::optional<std::uint64_t> parse_ip() const {
    std::size_t used = 0;
    try {
      const std::uint64_t value = std::stoull(ip_, &used, 0);
      if (used == ip_.size() && ip_[0] != '-') return value;
    } catch (const std::exception&) {
    }
    return std::nullopt;
  }

  static Format format_of(const std::string& name) {
    for (const Format format : {Format::kLackey, Format::kPinatrace, Format::kRaw})
      if (reconstruct::format_name(format) == name) return format;
    return Format::kCsv;
  }

  int run_compress() const {
    if (is_directory(trace_))
      return report({ErrorKind::kUsage,
                     trace_ + ": a recording is compressed as it is; --compress is for traces of other tools"});
    const Result<reconstruct::Compressed> done =
        reconstruct::compress(trace_, options_.format, compress_, kCompareUpTo);
    if (!done) return report(done.error());
    if (quiet_) return kSuccess;
    const auto ratio = [&](std::uint64_t bytes) {
      return bytes == 0 ? 0.0 : static_cast<double>(done->bytes_before) / static_cast<double>(bytes);
    };
    const std::string zstd = done->zstd_bytes ? fmt::format("zstd -19 alone: {}, {:.1f} times",
                                                            short_bytes(*done->zstd_bytes), ratio(*done->zstd_bytes))
                                              : std::string("too large to compare with zstd -19");
    print_stderr(
        "loopfold: {} in {} accesses became {} ({} pieces, {} lines kept as text): {:.1f} times smaller ({})\n",
        short_bytes(done->bytes_before), grouped(done->accesses), short_bytes(done->bytes_after), grouped(done->pieces),
        grouped(done->kept_lines), ratio(done->bytes_after), zstd);
    return kSuccess;
  }

  int run_expand() const {
    const Result<std::uint64_t> done = reconstruct::expand(trace_, expand_);
    if (!done) return report(done.error());
    if (!quiet_ && expand_ != reconstruct::kStandardInput)
      print_stderr("loopfold: wrote {} to {}\n", short_bytes(*done), expand_);
    return kSuccess;
  }

  Result<reconstruct::ReadTrace> read() {
    const bool recording = is_directory(trace_) || trace_.ends_with("trace.lft");
    if (!recording && !at_.empty())
      return fail(ErrorKind::kUsage,
                  fmt::format("--at: {} is no recording, and has no lines; --ip selects an instruction", trace_));
    if (!recording) return reconstruct::read_trace(trace_, options_);
    reconstruct::SourceLine at;
    if (!at_.empty()) {
      Result<reconstruct::SourceLine> parsed = reconstruct::parse_source_line(at_);
      if (!parsed) return tl::unexpected<Error>(parsed.error());
      at = *parsed;
    }
    const Result<std::unique_ptr<trace::Reader>> reader = open_trace(trace_);
    if (!reader) return tl::unexpected<Error>(reader.error());
    if ((*reader)->partial() && !quiet_) warn(fmt::format("{}: partial: {}", trace_, why_partial(**reader)));
    symbols::Symbolizer symbolizer((*reader)->modules());
    return reconstruct::read_recording(**reader, symbolizer, at, options_);
  }

  int run_reconstruct() {
    WallClock clock;
    Result<reconstruct::ReadTrace> trace = read();
    if (!trace) return report(trace.error());
    if (options_.only && trace->instructions.empty())
      return report({ErrorKind::kUsage, fmt::format("--ip {}: the trace has no access of this instruction", ip_)});
    if (!quiet_) remarks(*trace);
    std::vector<const Instruction*> shown;
    for (const std::unique_ptr<Instruction>& instruction : trace->instructions) shown.push_back(instruction.get());
    std::stable_sort(shown.begin(), shown.end(), [](const Instruction* a, const Instruction* b) {
      return a->loops.summary().accesses > b->loops.summary().accesses;
    });
    const bool sound = !options_.verify || verify(shown);
    deepen(*trace);
    const std::string text = text_of(shown);
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (const int status = finish_output(); status != kSuccess) return status;
    if (stats_) print_stats(*trace, clock.lap());
    return sound ? kSuccess : kAnswerIsNo;
  }

  void remarks(const reconstruct::ReadTrace& trace) const {
    if (trace.bad > 0) warn(fmt::format("{} left out; the first: {}", plural(trace.bad, "bad line"), trace.first_bad));
    if (trace.records == 0) warn(fmt::format("{}: no accesses in it", trace_));
  }

  std::string text_of(const std::vector<const Instruction*>& shown) const {
    if (format_ == "c") return reconstruct::c_text(shown);
    if (format_ == "isl") return reconstruct::isl_text(shown);
    if (format_ == "json") return reconstruct::json_text(shown);
    return reconstruct::table_text(shown, predict_);
  }

  /// Generated again and compared: true if every instruction's pieces give what was read.
  bool verify(const std::vector<const Instruction*>& shown) const {
    std::uint64_t accesses = 0;
    std::size_t wrong = 0;
    for (const Instruction* instruction : shown) {
      accesses += instruction->generated;
      if (instruction->verified()) continue;
      ++wrong;
      print_stderr("loopfold: error: {:#x}: the pieces do not generate what was read; please report this\n",
                   instruction->ip);
    }
    if (wrong == 0 && !quiet_)
      print_stderr("loopfold: verified: {} accesses of {} generated again, all equal\n", grouped(accesses),
                   plural(shown.size(), "instruction"));
    return wrong == 0;
  }

  void deepen(reconstruct::ReadTrace& trace) const {
    if (min_depth_ == 0) return;
    std::vector<std::int64_t> hints;
    for (const std::unique_ptr<Instruction>& instruction : trace.instructions)
      for (const reconstruct::Piece& piece : instruction->pieces)
        for (const std::int64_t trips : reconstruct::trip_counts(piece.nest))
          if (std::find(hints.begin(), hints.end(), trips) == hints.end()) hints.push_back(trips);
    for (std::unique_ptr<Instruction>& instruction : trace.instructions)
      for (reconstruct::Piece& piece : instruction->pieces)
        piece.nest = reconstruct::deepened(piece.nest, std::min(min_depth_, reconstruct::kMaxLevels), hints);
  }

  void print_stats(const reconstruct::ReadTrace& trace, double seconds) const {
    std::uint64_t tries = 0;
    std::size_t bytes = 0;
    for (const std::unique_ptr<Instruction>& instruction : trace.instructions) {
      tries += instruction->loops.summary().tries;
      bytes = std::max(bytes, instruction->loops.summary().peak_bytes);
    }
    print_stderr(
        "loopfold: stats: {} accesses of {} in {:.2f} s: {:.1f} M/s; {} candidates tried; search memory {} at most\n",
        grouped(trace.records), plural(trace.instructions.size(), "instruction"), seconds,
        static_cast<double>(trace.records) / std::max(seconds, 1e-9) / 1e6, grouped(tries), short_bytes(bytes));
  }

  std::string trace_ = "loopfold.out";
  std::string at_;
  std::string ip_;
  std::string input_ = "auto";
  std::string format_ = "table";
  std::string compress_;
  std::string expand_;
  reconstruct::ReadOptions options_ = [] {
    reconstruct::ReadOptions options;
    options.jobs = 0;
    return options;
  }();
  double tolerance_ = 0;
  std::size_t min_depth_ = 0;
  bool predict_ = false;
  bool no_gamma_ = false;
  bool quiet_ = false;
  bool stats_ = false;
};

}  // namespace

std::unique_ptr<Command> make_reconstruct() { return std::make_unique<ReconstructCommand>(); }

}  // namespace loopfold::cli
