// A subcommand: its name, help, options and what it does. One class per subcommand, in a file of its own.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "support/result.h"
#include "support/units.h"

namespace loopfold::cli {

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  /// Adds options, positionals and nested subcommands to `app`, bound to members.
  virtual void describe(CLI::App& app) = 0;
  /// What stood behind `--`: a program and its arguments, not to be parsed.
  virtual void set_program(std::vector<std::string> /*argv*/) {}
  /// Does the work; returns the process's exit status. `app` tells which nested subcommand was given.
  virtual int run(const CLI::App& app) = 0;
};

/// Prints `loopfold: error: …` to stderr and returns the status that goes with it.
int report(const Error& error);

/// For CLI11: 0, 1, 2, ...
const CLI::Validator& whole_number();

/// Prints `loopfold: warning: …` to stderr.
void warn(const std::string& message);

/// The trace file of DIR: DIR/trace.lft, or DIR itself if it is a file. An Error if there is none, saying what to do.
Result<std::string> trace_file(const std::string& directory);

std::unique_ptr<Command> make_run();
std::unique_ptr<Command> make_record();
std::unique_ptr<Command> make_trace();
std::unique_ptr<Command> make_analyze();
std::unique_ptr<Command> make_report();
std::unique_ptr<Command> make_explain();
std::unique_ptr<Command> make_ast();
std::unique_ptr<Command> make_tree();
std::unique_ptr<Command> make_flame();
std::unique_ptr<Command> make_export();
std::unique_ptr<Command> make_diff();
std::unique_ptr<Command> make_verify();
std::unique_ptr<Command> make_reconstruct();
std::unique_ptr<Command> make_check();
std::unique_ptr<Command> make_layout();
std::unique_ptr<Command> make_doctor();

}  // namespace loopfold::cli
