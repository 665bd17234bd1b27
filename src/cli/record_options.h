// The options of recording, for every command that records: `record` and `run`.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recorder/host/options.h"

namespace loopfold::cli {

class RecordingOptions {
 public:
  /// Adds the options, and takes what is left for the program. `command` is the name of the subcommand.
  void describe(CLI::App& app, const std::string& command);

  void set_program(std::vector<std::string> argv) { program_ = std::move(argv); }

  /// What was asked for, once it is parsed; none if something is wrong, which then is said on stderr.
  std::optional<recorder::RecordOptions> options();
  /// The program and its arguments; none as above.
  std::optional<std::vector<std::string>> program(const CLI::App& app) const;

 private:
  std::vector<std::string> given() const;

  std::string command_;
  recorder::RecordOptions options_;
  std::string from_;
  std::string only_;
  std::string max_instructions_;
  std::string max_trace_size_;
  bool from_start_ = false;
  std::vector<std::string> program_;
};

}  // namespace loopfold::cli
