// The recording process: drains the ring into the trace while the program runs, and tells its story at the end.
//
// The loop sleeps on the ring; every 20 ms at the latest it looks whether the target has ended. What the target
// published is always drained to the end, and if it died without a last word (kill -9), also what it had written
// behind that. Limits and a failed write stop the recording, never the program.
#include "recorder/host/session.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "recorder/host/children.h"
#include "recorder/host/ingest.h"
#include "recorder/host/launcher.h"
#include "recorder/host/output_directory.h"
#include "recorder/host/preflight.h"
#include "recorder/host/report.h"
#include "recorder/host/target.h"
#include "support/version.h"

namespace loopfold::recorder {

namespace {

using Clock = std::chrono::steady_clock;
using Reason = trace::EndInfo::Reason;

constexpr int kRecorderFailed = 125;
constexpr int kCannotRun = 126;
constexpr int kWaitMilliseconds = 20;
constexpr auto kShortestGroup = std::chrono::milliseconds(50);

/// Status as a shell reports it.
int shell_status(int wait_status) {
  if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
  return WEXITSTATUS(wait_status);
}

trace::RunInfo run_info(const RecordOptions& options, const std::vector<std::string>& argv, const Preflight& program,
                        pid_t pid) {
  trace::RunInfo info;
  info.argv = argv;
  info.program = program.path;
  info.interpreter = program.interpreter;
  std::error_code error;
  info.working_directory = std::filesystem::current_path(error).string();
  info.loopfold_version = kVersion;
  info.valgrind_version = kValgrindVersion;
  info.options = options.given;
  info.process_id = static_cast<std::uint64_t>(pid);
  info.naive = options.naive;
  return info;
}

/// Small groups where the trace must be small, so that a limit is not overshot by much.
void respect_size_limit(trace::Writer& writer, const RecordOptions& options) {
  constexpr std::uint64_t kSmallest = 64 * 1024;
  constexpr std::uint64_t kUsual = 4 * 1024 * 1024;
  if (options.max_trace_bytes == 0) return;
  writer.set_group_bytes(std::clamp(options.max_trace_bytes / 16, kSmallest, kUsual));
}

/// Reads the ring until the target has ended.
class Drain {
 public:
  Drain(RingReader& ring, trace::Writer& writer, Ingest& ingest, Target& target, Progress& progress)
      : ring_(ring), writer_(writer), ingest_(ingest), target_(target), progress_(progress) {}

  void run() {
    for (;;) {
      if (read_all()) continue;
      if (ring_.finished() || ingest_.done()) break;
      if (target_.ended(false)) break;
      flush_in_time();
      progress_.show(ingest_.end_info().instructions, writer_.bytes_written());
      ring_.wait(kWaitMilliseconds);
    }
    writer_.flush();
    while (!target_.ended(true)) {
    }
    read_all();
    if (!ring_.finished() && !ingest_.done()) ingest_.consume_tail(ring_.unpublished_tail());
  }

 private:
  /// Ends the trace's group every 50 ms at first, later every 2 % of the time: that much is lost if this process is
  /// killed, and long recordings do not get many groups.
  void flush_in_time() {
    const Clock::time_point now = Clock::now();
    if (now - flushed_ < std::max<Clock::duration>(kShortestGroup, (now - started_) / 50)) return;
    writer_.flush();
    flushed_ = Clock::now();
  }

  bool read_all() {
    bool any = false;
    for (std::span<const std::uint64_t> words = ring_.available(); !words.empty(); words = ring_.available()) {
      const Ingest::Consumed consumed = ingest_.consume(words);
      ring_.release(consumed.words, consumed.segment_ended);
      if (consumed.words == 0 && !consumed.segment_ended) ingest_.give_up();
      if (ingest_.done()) ring_.request_stop();
      flush_in_time();
      progress_.show(ingest_.end_info().instructions, writer_.bytes_written());
      any = true;
    }
    return any;
  }

  RingReader& ring_;
  trace::Writer& writer_;
  Ingest& ingest_;
  Target& target_;
  Progress& progress_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point flushed_ = started_;
};

/// The end record: what is known about how it ended.
trace::EndInfo end_info(const Ingest& ingest, const RingReader& ring, const Target& target, trace::Writer& writer) {
  trace::EndInfo end = ingest.end_info();
  if (!ingest.done() && !ring.finished()) {
    end.reason = ingest.replaced_by_exec() ? Reason::kExec : Reason::kRecorderLost;
  }
  if (const std::optional<int> status = target.wait_status()) {
    end.exit_status = shell_status(*status);
  } else if (ingest.exit_status()) {
    end.exit_status = *ingest.exit_status();
  } else {
    end.exit_status_known = false;
  }
  end.text = reason_text(end.reason, writer.error());
  return end;
}

/// A file in memory for Valgrind's own messages.
class ValgrindLog {
 public:
  ValgrindLog() : fd_(::memfd_create("loopfold-log", MFD_CLOEXEC)) {}
  ~ValgrindLog() { ::close(fd_); }
  ValgrindLog(const ValgrindLog&) = delete;
  ValgrindLog& operator=(const ValgrindLog&) = delete;
  int fd() const { return fd_; }

  /// The first message, without Valgrind's ==PID==.
  std::string first_line() const {
    std::string text(4096, '\0');
    const ssize_t length = ::pread(fd_, text.data(), text.size(), 0);
    text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t start = line.find_first_not_of("=- 0123456789");
      if (start != std::string::npos) return line.substr(start);
    }
    return "";
  }

 private:
  int fd_;
};

}  // namespace

Recording record(const RecordOptions& asked, const std::vector<std::string>& argv) {
  RecordOptions options = asked;
  const SignalDispositions before = take_over_signals();
  const Preflight program = inspect_program(argv);
  if (program.status != 0) {
    print_error(program.problem);
    return {program.status, false};
  }
  const auto give_up = [](const Error& error) {
    print_error(error.message);
    return Recording{kRecorderFailed, false};
  };
  const Result<std::string> tool = find_tool();
  if (!tool) return give_up(tool.error());
  const Result<std::unique_ptr<RingReader>> ring = RingReader::create();
  if (!ring) return give_up(ring.error());
  if (const Result<void> ready = prepare_output(options.out); !ready) return give_up(ready.error());
  const std::string shown = options.out;
  options.out = std::filesystem::absolute(options.out).string();
  if (!program.interpreter.empty() && !options.quiet) {
    print_note(fmt::format("{} is a script: recording its interpreter, {}", argv[0], program.interpreter));
  }
  Result<std::unique_ptr<trace::Writer>> writer =
      trace::Writer::create(options.out + "/trace.lft", run_info(options, argv, program, ::getpid()));
  if (!writer) return give_up(writer.error());
  respect_size_limit(**writer, options);
  const ValgrindLog log;
  Result<Target> target = Target::start(*tool, options, (*ring)->fd(), log.fd(), before, program.path, program.argv);
  if (!target) return give_up(target.error());

  const Clock::time_point started = Clock::now();
  Progress progress(options.quiet);
  Ingest ingest(**writer, options, program.path);
  Drain(**ring, **writer, ingest, *target, progress).run();
  progress.clear();
  const trace::EndInfo end = end_info(ingest, **ring, *target, **writer);
  (*writer)->finish(end);

  const int status = shell_status(target->wait_status().value_or(kRecorderFailed << 8));
  const bool ran = (*ring)->attached();
  if (!ran || (!(*ring)->finished() && end.events == 0 && status == 1)) {
    const std::string said = log.first_line();
    if (!said.empty()) {
      const bool debug_info = said.find("debug") != std::string::npos || said.find("dwarf") != std::string::npos;
      print_error(fmt::format("{}: Valgrind cannot run it: {}{}", argv[0], said,
                              debug_info ? "; record a copy without debug information (objcopy --strip-debug)" : ""));
      return {debug_info ? kCannotRun : kRecorderFailed, false};
    }
  }
  const int killed = WIFSIGNALED(target->wait_status().value_or(0)) ? WTERMSIG(*target->wait_status()) : 0;
  if (killed == SIGILL && ingest.undecodable()) {
    print_error(undecodable_text(argv[0], *ingest.undecodable(), ingest.modules()));
    return {kCannotRun, false};
  }
  if (ingest.differing() != 0) {
    print_error(
        fmt::format("internal: {} derived values differ from what was stored; please report this", ingest.differing()));
    return {kRecorderFailed, false};
  }
  Summary summary;
  summary.program = argv[0];
  summary.directory = shown;
  summary.end = end;
  summary.bytes = (*writer)->bytes_written();
  summary.write_error = (*writer)->error() ? (*writer)->error()->message : "";
  summary.scope_entered = ingest.scope_entered();
  summary.children = ingest.children();
  if (options.follow_children) summary.children = wait_for_children(options.out, ingest.children());
  summary.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  summary.target_cpu = target->cpu_seconds();
  summary.encoder_cpu = own_cpu_seconds();
  summary.encoder_kilobytes = own_peak_kilobytes();
  print_summary(summary, options);
  return {status, true};
}

int serve(RingReader& ring, const RecordOptions& asked, const std::vector<std::string>& argv,
          const std::string& program_path, pid_t target_pid) {
  take_over_signals();
  Preflight program;
  program.path = program_path;
  if (!argv.empty()) program = inspect_program(argv);
  RecordOptions options = asked;
  for (int n = 1; std::filesystem::exists(options.out); n++) options.out = fmt::format("{}.{}", asked.out, n);
  if (!prepare_output(options.out)) return kRecorderFailed;
  Result<std::unique_ptr<trace::Writer>> writer =
      trace::Writer::create(options.out + "/trace.lft", run_info(options, argv, program, target_pid));
  if (!writer) return kRecorderFailed;
  respect_size_limit(**writer, options);
  const TraceLock lock(options.out);
  Target target = Target::watch(target_pid);
  Progress progress(true);
  Ingest ingest(**writer, options, program.path);
  Drain(ring, **writer, ingest, target, progress).run();
  (*writer)->finish(end_info(ingest, ring, target, **writer));
  return 0;
}

}  // namespace loopfold::recorder
