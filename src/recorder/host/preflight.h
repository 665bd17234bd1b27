// Can this program be recorded? Answered before anything is started, in words that say what to do.
#pragma once

#include <string>
#include <vector>

namespace loopfold::recorder {

struct Preflight {
  int status = 0;                 // 0, or the exit status to give up with: 127 not found, 126 cannot be run
  std::string problem;            // one line, if status is not 0
  std::string path;               // the binary that will run: the program, or a script's interpreter
  std::string interpreter;        // of a script, as found; else empty
  std::vector<std::string> argv;  // what to run: for a script, its interpreter with the script as argument
};

/// Looks `argv[0]` up as the shell would (PATH of this process) and inspects it.
Preflight inspect_program(const std::vector<std::string>& argv);

/// The interpreter line of a script: "#!/usr/bin/env -S python3 -u" is {"/usr/bin/env", "-S python3 -u"}; empty if the
/// text is not a script.
struct Shebang {
  std::string interpreter;
  std::string argument;
};
Shebang parse_shebang(const std::string& head);

/// Absolute path with links resolved, or the path itself if that fails.
std::string real_path(const std::string& path);

}  // namespace loopfold::recorder
