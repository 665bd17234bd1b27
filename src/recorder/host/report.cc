#include "recorder/host/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "support/print.h"
#include "support/units.h"
#include "symbols/symbolizer.h"
#include "trace/decode.h"

namespace loopfold::recorder {

namespace {

constexpr auto kFirstProgress = std::chrono::seconds(2);
constexpr auto kProgressEvery = std::chrono::seconds(1);

std::string plural(std::uint64_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The instruction that the bytes start with; its length is not known.
std::string disassemble_first(const Undecodable& undecodable) {
  std::string text = "(unknown)";
  for (std::size_t length = 1; length <= undecodable.bytes.size(); length++) {
    trace::Block block;
    block.address = undecodable.address;
    block.bytes.assign(undecodable.bytes.begin(), undecodable.bytes.begin() + static_cast<std::ptrdiff_t>(length));
    block.lengths = {static_cast<std::uint8_t>(length)};
    if (const std::string tried = trace::disassemble(block, 0); tried != "(bad)") text = tried;
  }
  return text;
}

/// As a shell would need it.
std::string quoted(const std::string& path) {
  if (path.find_first_of(" \t\n'\"\\$*?[](){}<>|&;~`!#") == std::string::npos) return path;
  std::string text = "'";
  for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

void print_error(const std::string& message) { print_stderr("loopfold: error: {}\n", message); }
void print_warning(const std::string& message) { print_stderr("loopfold: warning: {}\n", message); }
void print_note(const std::string& message) { print_stderr("loopfold: note: {}\n", message); }

Progress::Progress(bool quiet)
    : started_(std::chrono::steady_clock::now()), last_(started_), enabled_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::uint64_t instructions, std::uint64_t bytes) {
  if (!enabled_ || ++skipped_ % 16 != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - started_ < kFirstProgress || now - last_ < kProgressEvery) return;
  last_ = now;
  shown_ = true;
  print_stderr("\r\033[Kloopfold: recording: {} instructions, {}, {:.0f} s", short_count(instructions),
               short_bytes(bytes), std::chrono::duration<double>(now - started_).count());
  std::fflush(stderr);
}

void Progress::clear() {
  if (shown_) print_stderr("\r\033[K");
}

std::string reason_text(trace::EndInfo::Reason reason, const std::optional<Error>& write_error) {
  using Reason = trace::EndInfo::Reason;
  switch (reason) {
    case Reason::kProgramEnded:
      return "";
    case Reason::kInstructionLimit:
      return "the limit of --max-instructions was reached";
    case Reason::kSizeLimit:
      return "the limit of --max-trace-size was reached";
    case Reason::kWriteError:
      return "the trace could not be written: " + (write_error ? write_error->message : std::string("unknown reason"));
    case Reason::kRecorderLost:
      return "the program was killed";
    case Reason::kExec:
      return "the program replaced itself by another (exec); --follow-children records that one too";
  }
  return "";
}

void print_summary(const Summary& summary, const RecordOptions& options) {
  if (!summary.write_error.empty()) {
    print_warning(fmt::format("{}; recording stopped there, the program went on", summary.write_error));
  }
  if (!summary.scope_entered && summary.end.reason != trace::EndInfo::Reason::kWriteError) {
    if (options.function.empty()) {
      print_warning("main was not found or not reached, so nothing was recorded; try --from-start");
    } else {
      print_warning(
          fmt::format("{} was never entered, so nothing was recorded; is it spelt as in the symbol table "
                      "(nm -C), and not inlined?",
                      options.function));
    }
  }
  if (options.quiet) return;
  if (summary.children > 0 && !options.follow_children) {
    const std::string children =
        summary.children == 1 ? "one child process was" : fmt::format("{} child processes were", summary.children);
    print_note(fmt::format("{} not recorded; --follow-children records them too", children));
  }
  if (options.follow_children && summary.children > 0) {
    print_note(fmt::format("{} in {}.PID",
                           summary.children == 1 ? "one more trace, of a child process,"
                                                 : fmt::format("{} more traces, of child processes,", summary.children),
                           summary.directory));
  }
  const bool failed = !summary.write_error.empty();
  const std::string stopped = failed ? "" : summary.end.text.empty() ? "" : "; stopped early: " + summary.end.text;
  // After a failed write the counts say what ran, not what is on disk.
  const std::string what =
      failed ? fmt::format("recorded a part of {}", summary.program)
             : fmt::format("recorded {} instructions of {} in {}", short_count(summary.end.instructions),
                           summary.program, plural(summary.end.threads, "thread"));
  // As a shell says it: the program may have returned that number itself.
  constexpr int kSignalled = 128;
  const int signal = summary.end.exit_status_known ? summary.end.exit_status - kSignalled : 0;
  const char* const name = signal > 0 ? sigabbrev_np(signal) : nullptr;
  const std::string killed = name == nullptr ? "" : fmt::format("; it ended as after being killed by SIG{}", name);
  const std::string next =
      "; next: loopfold tree" + (summary.directory == "loopfold.out" ? "" : " " + quoted(summary.directory));
  print_stderr("loopfold: {} ({} in {}){}{}{}\n", what, short_bytes(summary.bytes), summary.directory, killed, stopped,
               options.hint ? next : "");
  if (!options.stats) return;
  const double per_second = static_cast<double>(summary.end.instructions) / std::max(summary.seconds, 1e-9);
  fmt::print(
      stderr,
      "  time             {:.2f} s, {} instructions/s\n"
      "  CPU time         {:.3f} s in the program, {:.3f} s in the recording process ({} MB)\n"
      "  instructions     {} recorded, {} hidden\n"
      "  events           {} block executions, {} side events\n"
      "  trace            {} bytes, {:.4f} per instruction\n",
      summary.seconds, short_count(static_cast<std::uint64_t>(per_second)), summary.target_cpu, summary.encoder_cpu,
      summary.encoder_kilobytes / 1000, summary.end.instructions, summary.end.hidden_instructions, summary.end.events,
      summary.end.side_events, summary.bytes,
      static_cast<double>(summary.bytes) / static_cast<double>(std::max<std::uint64_t>(summary.end.instructions, 1)));
}

std::string undecodable_text(const std::string& program, const Undecodable& undecodable,
                             const std::vector<trace::Module>& modules) {
  const std::string text = disassemble_first(undecodable);
  const std::string where = symbols::Symbolizer(modules).describe(undecodable.address);
  const bool avx512 = !undecodable.bytes.empty() && undecodable.bytes[0] == 0x62;
  if (avx512) {
    return fmt::format(
        "{}: AVX-512 instruction `{}` at {}: Valgrind cannot run it; rebuild with -mno-avx512f (or "
        "-march=haswell)",
        program, text, where);
  }
  return fmt::format("{}: instruction `{}` at {}: Valgrind cannot run it; rebuild for an older processor", program,
                     text, where);
}

}  // namespace loopfold::recorder
