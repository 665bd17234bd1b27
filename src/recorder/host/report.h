// What `record` says: progress while it runs, one line at the end, warnings and errors in between.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "recorder/host/ingest.h"
#include "recorder/host/options.h"

namespace loopfold::recorder {

void print_error(const std::string& message);
void print_warning(const std::string& message);
void print_note(const std::string& message);

/// A line on the terminal that is written over once a second. Silent if stderr is not a terminal.
class Progress {
 public:
  explicit Progress(bool quiet);
  void show(std::uint64_t instructions, std::uint64_t bytes);
  void clear();

 private:
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_;
  bool enabled_;
  bool shown_ = false;
  unsigned skipped_ = 0;
};

struct Summary {
  std::string program;
  std::string directory;
  trace::EndInfo end;
  std::uint64_t bytes = 0;
  std::string write_error;
  bool scope_entered = false;
  std::uint64_t children = 0;
  double seconds = 0;
  double target_cpu = 0;   // seconds
  double encoder_cpu = 0;  // of the recording process
  long encoder_kilobytes = 0;
};
void print_summary(const Summary& summary, const RecordOptions& options);

/// Why the recording ended, if not because the program did; empty if it did.
std::string reason_text(trace::EndInfo::Reason reason, const std::optional<Error>& write_error);

/// "./prog: AVX-512 instruction `vaddpd …` at f (a.c:12): …"
std::string undecodable_text(const std::string& program, const Undecodable& undecodable,
                             const std::vector<trace::Module>& modules);

}  // namespace loopfold::recorder
