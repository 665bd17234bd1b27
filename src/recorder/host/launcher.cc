// How the recorder is started, three ways.
//
// 1. `loopfold record` forks; the child execs the recorder binary directly (Valgrind's own launcher is a shell script
//    that changes the environment). VALGRIND_LIB and VALGRIND_LAUNCHER are what Valgrind needs to be started like that;
//    the recorder takes them out of the program's environment again.
// 2. With --follow-children, Valgrind execs VALGRIND_LAUNCHER, which is this binary, with the recorder's options and
//    the new program. A recording process is put behind a fresh ring, and this process becomes the recorder: it keeps
//    its process id, as the program's parent expects.
// 3. A forked child starts its recording process itself (recorder/tool/process.cc) as `loopfold serve-child`.
#include "recorder/host/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "recorder/host/preflight.h"
#include "recorder/host/ring_reader.h"
#include "recorder/host/session.h"

namespace loopfold::recorder {

namespace {

constexpr int kRecorderFailed = 125;

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// The value of `--name=value` in `argument`, if it is that option.
bool take(const std::string& argument, const std::string& name, std::string& value) {
  const std::string prefix = name + "=";
  if (argument.rfind(prefix, 0) != 0) return false;
  value = argument.substr(prefix.size());
  return true;
}

/// A recording process in the background holds none of the program's files open, or a reader at the other end of its
/// standard output would wait for it.
void let_go_of_files(int keep_ring, int keep_alive) {
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; fd++) ::dup2(null, fd);
  const unsigned low = static_cast<unsigned>(std::min(keep_ring, keep_alive));
  const unsigned high = static_cast<unsigned>(std::max(keep_ring, keep_alive));
  if (low > 3) ::close_range(3, low - 1, 0);
  if (high > low + 1) ::close_range(low + 1, high - 1, 0);
  ::close_range(high + 1, ~0U, 0);
}

}  // namespace

std::string own_path() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string("loopfold");
}

Result<std::string> find_tool() {
  const std::string name = "/loopfold-amd64-linux";
  const std::string here = directory_of(own_path());
  std::vector<std::string> places{here + "/libexec/loopfold" + name, here + "/../libexec/loopfold" + name};
  if (const char* given = std::getenv("LOOPFOLD_LIBEXEC")) places.insert(places.begin(), given + name);
  for (const std::string& place : places) {
    if (::access(place.c_str(), X_OK) == 0) return place;
  }
  return fail(ErrorKind::kEnvironment,
              fmt::format("{}: the recorder is not there; build with Valgrind 3.19 or newer (make), or install again",
                          places.back()));
}

std::string pack_child_options(const RecordOptions& options) {
  return fmt::format("{},{},{},{},{}", static_cast<int>(options.scope), options.no_libs ? 1 : 0,
                     options.max_instructions, options.max_trace_bytes, options.function);
}

void unpack_child_options(const std::string& packed, RecordOptions& options) {
  int scope = 0;
  int no_libs = 0;
  unsigned long long instructions = 0;
  unsigned long long bytes = 0;
  int used = 0;
  if (std::sscanf(packed.c_str(), "%d,%d,%llu,%llu,%n", &scope, &no_libs, &instructions, &bytes, &used) < 4) return;
  options.scope = static_cast<Scope>(scope);
  options.no_libs = no_libs != 0;
  options.max_instructions = instructions;
  options.max_trace_bytes = bytes;
  options.function = packed.substr(static_cast<std::size_t>(used));
}

std::vector<std::string> tool_command(const std::string& tool, const RecordOptions& options,
                                      const InheritedFiles& files, const std::string& program) {
  std::vector<std::string> command{tool,
                                   "--tool=loopfold",
                                   "-q",
                                   "--vgdb=no",
                                   "--fair-sched=try",
                                   "--max-threads=2000",
                                   "--child-silent-after-fork=yes",
                                   "--command-line-only=yes",
                                   fmt::format("--log-fd={}", files.log),
                                   fmt::format("--lf-log-fd={}", files.log),
                                   fmt::format("--lf-ring-fd={}", files.ring),
                                   fmt::format("--lf-alive-fd={}", files.alive)};
  if (!options.function.empty()) command.push_back("--lf-scope=" + options.function);
  if (options.verify) command.push_back("--lf-verify=yes");
  if (options.naive) command.push_back("--lf-naive=yes");
  if (options.keep_preload) command.push_back("--lf-keep-preload=yes");
  if (options.follow_children) {
    command.insert(command.end(),
                   {"--trace-children=yes", "--lf-follow=yes", "--lf-launcher=" + own_path(), "--lf-out=" + options.out,
                    "--lf-child-options=--child-options=" + pack_child_options(options),
                    "--lf-child-program=--program=" + program});
  }
  command.push_back("--");
  return command;
}

void exec_tool(const std::string& tool, const std::vector<std::string>& command) {
  ::setenv("VALGRIND_LIB", directory_of(tool).c_str(), 1);
  ::setenv("VALGRIND_LAUNCHER", own_path().c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execv(tool.c_str(), arguments.data());
}

int launch_for_valgrind(int argc, char** argv) {
  const Result<std::string> tool = find_tool();
  if (!tool) return kRecorderFailed;
  std::vector<std::string> command{*tool};
  std::string out;
  std::string packed;
  std::string ignored;
  int i = 1;
  for (; i < argc; i++) {
    const std::string argument = argv[i];
    if (argument.empty() || argument[0] != '-') break;
    take(argument, "--lf-out", out);
    take(argument, "--lf-child-options", packed);
    if (take(argument, "--lf-child-program", ignored)) continue;
    if (take(argument, "--lf-ring-fd", ignored) || take(argument, "--lf-alive-fd", ignored)) continue;
    if (take(argument, "--log-fd", ignored) || take(argument, "--lf-log-fd", ignored)) continue;
    if (argument != "--") command.push_back(argument);
  }
  const std::vector<std::string> program(argv + i, argv + argc);
  if (!program.empty()) command.push_back("--lf-child-program=--program=" + real_path(program[0]));
  const pid_t target = ::getpid();
  int alive[2] = {-1, -1};
  Result<std::unique_ptr<RingReader>> ring = RingReader::create();
  if (ring && ::pipe(alive) == 0) {
    const pid_t middle = ::fork();
    if (middle == 0) {
      ::setsid();
      if (::fork() != 0) ::_exit(0);
      let_go_of_files((*ring)->fd(), alive[1]);
      RecordOptions options;
      options.out = fmt::format("{}.{}", out, target);
      const std::string prefix = "--child-options=";
      unpack_child_options(packed.rfind(prefix, 0) == 0 ? packed.substr(prefix.size()) : packed, options);
      ::_exit(serve(**ring, options, program, "", target));
    }
    if (middle > 0) ::waitpid(middle, nullptr, 0);
    ::close(alive[1]);
    const int ring_fd = ::dup((*ring)->fd());  // survives exec, as the original does not
    command.push_back(fmt::format("--lf-ring-fd={}", ring_fd));
    command.push_back(fmt::format("--lf-alive-fd={}", alive[0]));
  }
  command.push_back("--log-fd=-1");
  command.push_back("--");
  command.insert(command.end(), program.begin(), program.end());
  exec_tool(*tool, command);
  return kRecorderFailed;
}

int serve_child(int argc, char** argv) {
  int ring_fd = -1;
  int alive_fd = -1;
  pid_t target = 0;
  RecordOptions options;
  std::string program;
  for (int i = 2; i < argc; i++) {
    std::string value;
    const std::string argument = argv[i];
    if (take(argument, "--ring-fd", value)) ring_fd = std::atoi(value.c_str());
    if (take(argument, "--alive-fd", value)) alive_fd = std::atoi(value.c_str());
    if (take(argument, "--target", value)) target = std::atoi(value.c_str());
    if (take(argument, "--out", value)) options.out = value;
    if (take(argument, "--program", value)) program = value;
    if (take(argument, "--child-options", value)) unpack_child_options(value, options);
  }
  let_go_of_files(ring_fd, alive_fd);
  // A forked child goes on in the middle of main: all of it is recorded.
  if (options.scope == Scope::kMain || options.scope == Scope::kFrom) options.scope = Scope::kStart;
  const Result<std::unique_ptr<RingReader>> ring = RingReader::adopt(ring_fd, false);
  if (!ring) return kRecorderFailed;
  return serve(**ring, options, {}, program, target);
}

}  // namespace loopfold::recorder
