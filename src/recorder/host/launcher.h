// Starting the recorder: as a child of `loopfold record`, in place of a program that a recorded one execs, and the
// recording process behind a forked child.
#pragma once

#include <string>
#include <vector>

#include "recorder/host/options.h"
#include "support/result.h"

namespace loopfold::recorder {

/// Where the recorder's binary is: beside this binary (build tree) or in ../libexec/loopfold (installed), or in the
/// directory that LOOPFOLD_LIBEXEC names. Error if it is nowhere.
Result<std::string> find_tool();

/// Path of the running loopfold binary.
std::string own_path();

/// Files that the recorder inherits. It moves them out of the program's sight.
struct InheritedFiles {
  int ring = -1;
  int alive = -1;  // read end of a pipe whose write end the recording process holds
  int log = -1;    // for Valgrind's own messages; -1: they are dropped
};

/// The recorder's command line up to and including "--": what follows is the program and its arguments.
/// `program` is the resolved path of the binary that will run.
std::vector<std::string> tool_command(const std::string& tool, const RecordOptions& options,
                                      const InheritedFiles& files, const std::string& program);

/// Options for the recording process of a child (serve-child), as one word.
std::string pack_child_options(const RecordOptions& options);
void unpack_child_options(const std::string& packed, RecordOptions& options);

/// Replaces this process by the recorder. Returns only if that fails.
void exec_tool(const std::string& tool, const std::vector<std::string>& command);

/// main() when Valgrind starts this binary in place of an exec'ed program.
int launch_for_valgrind(int argc, char** argv);

/// main() of the recording process of a child: `loopfold serve-child --ring-fd=N --alive-fd=N --target=PID --out=DIR
/// …`.
int serve_child(int argc, char** argv);

}  // namespace loopfold::recorder
