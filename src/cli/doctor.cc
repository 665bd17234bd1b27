// `loopfold doctor`: can programs be recorded here, and if not, what has to be done?
//
// One line per check. A *problem* is something without which nothing can be recorded, and makes the exit status 4; a
// *warning* concerns some programs or some comfort. Every line that is not ok says what to do about it.
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "cli/trace_commands.h"
#include "recorder/host/launcher.h"
#include "support/version.h"
#include "symbols/debug_file.h"

namespace loopfold::cli {

namespace {

enum class Level { kOk, kWarning, kProblem };

struct Finding {
  Level level = Level::kOk;
  std::string what;
  std::string text;  // what was found; if it is not ok, also what to do
};

Finding ok(std::string what, std::string text) { return {Level::kOk, std::move(what), std::move(text)}; }
Finding warning(std::string what, std::string text) { return {Level::kWarning, std::move(what), std::move(text)}; }
Finding problem(std::string what, std::string text) { return {Level::kProblem, std::move(what), std::move(text)}; }

constexpr std::uint64_t kMegabyte = 1000 * 1000;
constexpr std::uint64_t kLargestStack = std::uint64_t{16} << 20;  // what Valgrind gives a program at the most
constexpr std::size_t kRingBytes = std::size_t{1} << 20;

// ---- running a command ----

struct Outcome {
  bool started = false;
  bool timed_out = false;
  int status = 0;      // exit status, or 128+n
  std::string output;  // standard output and error, the beginning
};

/// Reads from `fd` until its end or until the deadline; false if that came first.
bool read_until(int fd, std::chrono::steady_clock::time_point deadline, std::string& output) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(left.count()));
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) return true;
    if (output.size() < 16 * buffer.size()) output.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// Runs `path` (looked up in PATH if it has no slash) with `variables` added to the environment, for ten seconds at
/// most.
Outcome run_command(const std::string& path, const std::vector<std::string>& arguments,
                    const std::vector<std::pair<std::string, std::string>>& variables) {
  Outcome outcome;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return outcome;
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::execvp(path.c_str(), argv.data());
    ::_exit(kNotFound);
  }
  ::close(ends[1]);
  if (child > 0) {
    outcome.timed_out =
        !read_until(ends[0], std::chrono::steady_clock::now() + std::chrono::seconds(10), outcome.output);
    if (outcome.timed_out) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.started = outcome.status != kNotFound;
  }
  ::close(ends[0]);
  return outcome;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// ---- the recorder ----

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

Finding check_recorder_starts(const std::string& tool) {
  const Outcome outcome =
      run_command(tool, {"--tool=loopfold", "-q", "--vgdb=no", "/bin/true"},
                  {{"VALGRIND_LIB", directory_of(tool)}, {"VALGRIND_LAUNCHER", recorder::own_path()}});
  if (outcome.status == 0 && !outcome.timed_out) return ok("recorder starts", "ran /bin/true");
  const std::string said = outcome.output.empty() ? "" : fmt::format(": \"{}\"", first_line(outcome.output));
  if (outcome.timed_out)
    return problem("recorder starts", fmt::format("not done with /bin/true after 10 s{}; is the machine busy?", said));
  return problem("recorder starts",
                 fmt::format("status {} on /bin/true{}; build it again with: make", outcome.status, said));
}

/// Present, and does it run? Looked for where `record` looks.
void check_recorder(std::vector<Finding>& findings) {
  const Result<std::string> tool = recorder::find_tool();
  if (!tool) {
    findings.push_back(problem("recorder", tool.error().message));
  } else {
    findings.push_back(ok("recorder", *tool));
    findings.push_back(check_recorder_starts(*tool));
  }
}

Finding check_valgrind() {
  const char* const why = "only comparisons and building Loopfold need it";
  const Outcome outcome = run_command("valgrind", {"--version"}, {});
  if (!outcome.started)
    return warning("valgrind command", fmt::format("not installed ({}); apt install valgrind", why));
  int major = 0;
  int minor = 0;
  const std::string version = first_line(outcome.output);
  if (std::sscanf(version.c_str(), "valgrind-%d.%d", &major, &minor) != 2)
    return warning("valgrind command", fmt::format("says \"{}\" instead of its version ({})", version, why));
  if (major < 3 || (major == 3 && minor < 19))
    return warning("valgrind command", fmt::format("{} is older than 3.19 ({}); install a newer one", version, why));
  return ok("valgrind command", fmt::format("{} (the recorder has {} built in)", version, kValgrindVersion));
}

// ---- the machine ----

Finding check_kernel() {
  utsname name{};
  ::uname(&name);
  const std::string text = fmt::format("{} {} {}", name.sysname, name.release, name.machine);
  int major = 0;
  int minor = 0;
  const bool parsed = std::sscanf(name.release, "%d.%d", &major, &minor) == 2;
  if (std::strcmp(name.machine, "x86_64") != 0) return problem("kernel", text + ": Loopfold records on x86-64 only");
  if (parsed && (major < 3 || (major == 3 && minor < 17)))
    return problem("kernel", text + " is too old; 3.17 or newer is needed (memfd_create)");
  return ok("kernel", text);
}

/// What the recorder and the recording process share is memory of this kind.
Finding check_shared_memory() {
  const auto failed = [](const char* what) {
    return problem("shared memory", fmt::format("{} fails: {}; a container or seccomp profile may forbid it: allow it",
                                                what, std::strerror(errno)));
  };
  const int fd = ::memfd_create("loopfold-doctor", MFD_CLOEXEC);
  if (fd < 0) return failed("memfd_create");
  Finding finding = ok("shared memory", "memfd_create works");
  if (::ftruncate(fd, kRingBytes) != 0) {
    finding = failed("ftruncate of a memfd");
  } else {
    void* const mapped = ::mmap(nullptr, kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
      finding = failed("mmap of a memfd");
    } else {
      ::munmap(mapped, kRingBytes);
    }
  }
  ::close(fd);
  return finding;
}

Finding check_disk() {
  struct statvfs disk {};
  if (::statvfs(".", &disk) != 0)
    return problem("free disk", fmt::format("the current directory cannot be examined: {}", std::strerror(errno)));
  const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  const std::string text = fmt::format("{} in the current directory", short_bytes(free));
  if (::access(".", W_OK) != 0)
    return warning("free disk", text + ", but it is not writable; write traces elsewhere: loopfold record -o DIR");
  if (free < 10 * kMegabyte)
    return problem("free disk", text + "; make room, or write elsewhere: loopfold record -o DIR");
  if (free < 1000 * kMegabyte)
    return warning("free disk", text + "; long traces may not fit: record -o DIR, or limit them with --max-trace-size");
  return ok("free disk", text);
}

Finding check_cpu() {
  if (!__builtin_cpu_supports("avx512f")) return ok("CPU", "no AVX-512, which could not be recorded");
  return warning("CPU",
                 "has AVX-512, which Valgrind does not know: programs built for this very CPU (-march=native) "
                 "cannot be recorded; build them with -march=x86-64-v3. Libraries that choose at run time are fine");
}

Finding check_address_space() {
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return ok("address space", "unlimited");
  return warning("address space",
                 fmt::format("limited to {}, which may not be enough for the recorder; run: ulimit -v unlimited",
                             short_bytes(limit.rlim_cur)));
}

Finding check_stack() {
  rlimit limit{};
  ::getrlimit(RLIMIT_STACK, &limit);
  const bool unlimited = limit.rlim_cur == RLIM_INFINITY;
  const std::string text = unlimited ? "unlimited" : short_bytes(limit.rlim_cur);
  if (!unlimited && limit.rlim_cur <= kLargestStack) return ok("stack limit", text);
  return warning("stack limit",
                 fmt::format("{}, but a recorded program gets 16 MiB at the most: one that needs more on "
                             "its main thread ends with SIGSEGV; put large arrays on the heap",
                             text));
}

// ---- debug information ----

struct LoadedLibrary {
  std::string path;
  std::string build_id;
};

/// The GNU build-id note of a loaded object, in hex.
std::string build_id_of(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; i++) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(object.dlpi_addr + header.p_vaddr);
    const char* const end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* const name = at + sizeof note;
      const char* const data = name + ((note.n_namesz + 3) & ~3u);
      at = data + ((note.n_descsz + 3) & ~3u);
      if (at > end || note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || std::memcmp(name, "GNU", 4) != 0)
        continue;
      std::string hex;
      for (unsigned k = 0; k < note.n_descsz; k++) hex += fmt::format("{:02x}", static_cast<unsigned char>(data[k]));
      return hex;
    }
  }
  return "";
}

std::optional<LoadedLibrary> find_libc() {
  std::optional<LoadedLibrary> found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        const std::string path = object->dlpi_name;
        if (path.find("/libc.so") == std::string::npos && path.find("/libc-") == std::string::npos) return 0;
        *static_cast<std::optional<LoadedLibrary>*>(result) = LoadedLibrary{path, build_id_of(*object)};
        return 1;
      },
      &found);
  return found;
}

Finding check_libc_symbols() {
  const std::optional<LoadedLibrary> libc = find_libc();
  if (!libc || libc->build_id.size() < 3) return ok("libc symbols", "not examined: no build-id to look for");
  const std::string file = fmt::format("{}/.build-id/{}/{}.debug", symbols::debug_directory(),
                                       libc->build_id.substr(0, 2), libc->build_id.substr(2));
  if (::access(file.c_str(), R_OK) == 0) return ok("libc symbols", file);
  return warning("libc symbols", fmt::format("no debug file for {}: its inner functions have no names or lines; "
                                             "nice to have: apt install libc6-dbg",
                                             libc->path));
}

class DoctorCommand : public Command {
 public:
  std::string name() const override { return "doctor"; }
  std::string summary() const override { return "What is installed, what will not work, what to do"; }

  void describe(CLI::App& app) override {
    app.add_flag("-q,--quiet", quiet_, "Print problems only");
    app.footer("Exit status: 0 programs can be recorded, 4 something needed is missing.");
  }

  int run(const CLI::App&) override {
    std::vector<Finding> findings;
    check_recorder(findings);
    findings.insert(findings.end(), {check_kernel(), check_cpu(), check_shared_memory(), check_address_space(),
                                     check_stack(), check_disk(), check_valgrind(), check_libc_symbols()});
    std::size_t problems = 0;
    std::size_t warnings = 0;
    const Paint paint(stdout);
    for (const Finding& finding : findings) {
      if (finding.level == Level::kProblem) problems++;
      if (finding.level == Level::kWarning) warnings++;
      if (!quiet_ || finding.level == Level::kProblem) print(finding, paint);
    }
    if (!quiet_) fmt::print("\n{}\n", conclusion(problems, warnings));
    const int written = finish_output();
    if (written != kSuccess) return written;
    return problems == 0 ? int{kSuccess} : int{kEnvironment};
  }

 private:
  static void print(const Finding& finding, const Paint& paint) {
    const std::string level = finding.level == Level::kOk        ? paint.good("ok     ")
                              : finding.level == Level::kWarning ? paint.caution("warning")
                                                                 : paint.bad("problem");
    fmt::print("{}  {:<17} {}\n", level, finding.what, finding.text);
  }

  static std::string conclusion(std::size_t problems, std::size_t warnings) {
    if (problems != 0) return "Nothing can be recorded until the problems above are solved.";
    const char* const ready = "Ready. Start with:  loopfold record -- ./your-program its arguments";
    return warnings == 0 ? ready : fmt::format("{} (the warnings concern some programs only)", ready);
  }

  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor() { return std::make_unique<DoctorCommand>(); }

}  // namespace loopfold::cli
