// Looks at a program before it is started: exists, may be executed, is a 64-bit x86 ELF file or a script whose
// interpreter is one, has no split DWARF (Valgrind 3.19 aborts while reading it, whatever the tool).
//
// `#!/usr/bin/env NAME` is resolved here: recorded as it stands, `env` would be the program, and what it execs would
// not be seen.
#include "recorder/host/preflight.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "recorder/host/split_dwarf.h"
#include "symbols/elf_file.h"

namespace loopfold::recorder {

namespace {

constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;
constexpr int kMostInterpreters = 4;  // a script's interpreter may be a script; the kernel stops there too

Preflight refuse(int status, std::string problem) {
  Preflight result;
  result.status = status;
  result.problem = std::move(problem);
  return result;
}

bool is_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

/// Where execvp would find it; empty if nowhere.
std::string find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* variable = std::getenv("PATH");
  std::istringstream path(variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin");
  std::string not_executable;
  for (std::string directory; std::getline(path, directory, ':');) {
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (!is_file(candidate)) continue;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    not_executable = candidate;
  }
  return not_executable;
}

/// Why the file at `path` cannot be executed by anybody; empty if it can.
Preflight check_executable(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return refuse(kNotFound, fmt::format("{}: no such program; check the path", path));
  }
  if (S_ISDIR(info.st_mode)) return refuse(kCannotRun, fmt::format("{}: is a directory, not a program", path));
  if (::access(path.c_str(), X_OK) != 0) {
    return refuse(kCannotRun, fmt::format("{}: is not executable; chmod +x it, or name its interpreter", path));
  }
  const bool raises = ((info.st_mode & S_ISUID) != 0 && info.st_uid != ::geteuid()) ||
                      ((info.st_mode & S_ISGID) != 0 && info.st_gid != ::getegid() && ::geteuid() != 0);
  if (raises) {
    return refuse(
        kCannotRun,
        fmt::format("{}: is set-uid or set-gid, and Valgrind cannot run it with raised rights; record a copy", path));
  }
  if (::access(path.c_str(), R_OK) != 0) {
    return refuse(kCannotRun, fmt::format("{}: cannot be read, and Valgrind must read it; chmod +r it", path));
  }
  return {};
}

Preflight check_elf(const std::string& path, const symbols::ElfFile& elf) {
  if (!elf.is_64bit) {
    return refuse(
        kCannotRun,
        fmt::format("{}: is a 32-bit program; Loopfold records 64-bit x86 programs: rebuild with -m64", path));
  }
  if (!elf.is_x86_64()) {
    return refuse(kCannotRun,
                  fmt::format("{}: is not for x86-64 (ELF machine {}); build it for this machine", path, elf.machine));
  }
  if (!elf.damage.empty()) {
    return refuse(kCannotRun, fmt::format("{}: is damaged ({}); build it again", path, elf.damage));
  }
  if (elf.type != symbols::ElfFile::Type::kExecutable && elf.type != symbols::ElfFile::Type::kShared) {
    return refuse(kCannotRun, fmt::format("{}: is an ELF file, but not a program; link it first", path));
  }
  if (elf.has_interpreter() && !is_file(elf.interpreter)) {
    return refuse(kCannotRun, fmt::format("{}: needs the dynamic linker {}, which is not here", path, elf.interpreter));
  }
  for (const std::string& library : elf.needed) {
    for (const char* sanitizer : {"libasan.so", "libtsan.so", "libmsan.so", "libhwasan.so"}) {
      if (library.rfind(sanitizer, 0) != 0) continue;
      return refuse(kCannotRun, fmt::format("{}: is built with a sanitizer ({}), which cannot run under Valgrind; "
                                            "rebuild without -fsanitize",
                                            path, library));
    }
  }
  const std::string split = find_split_dwarf(path, elf);
  if (!split.empty()) {
    return refuse(kCannotRun, fmt::format("{}: has split DWARF, which Valgrind cannot load; rebuild without "
                                          "-gsplit-dwarf, or record a copy made with: objcopy --strip-debug",
                                          split));
  }
  return {};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// What `#!INTERPRETER ARGUMENT` of `script` runs: env is looked through.
std::vector<std::string> interpreter_command(const Shebang& shebang, const std::string& script) {
  std::vector<std::string> command{shebang.interpreter};
  if (!shebang.argument.empty()) command.push_back(shebang.argument);
  const std::size_t slash = shebang.interpreter.rfind('/');
  if (shebang.interpreter.substr(slash == std::string::npos ? 0 : slash + 1) == "env") {
    std::vector<std::string> words = words_of(shebang.argument);
    if (!words.empty() && (words[0] == "-S" || words[0] == "--split-string")) words.erase(words.begin());
    const bool plain = !words.empty() && words[0][0] != '-' && words[0].find('=') == std::string::npos;
    if (plain) command = words;
  }
  command.push_back(script);
  return command;
}

}  // namespace

Shebang parse_shebang(const std::string& head) {
  if (head.rfind("#!", 0) != 0) return {};
  std::string line = head.substr(2, head.find('\n') == std::string::npos ? std::string::npos : head.find('\n') - 2);
  const auto trim = [](std::string text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return std::string();
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
  };
  line = trim(line);
  const std::size_t space = line.find_first_of(" \t");
  if (space == std::string::npos) return {line, ""};
  return {line.substr(0, space), trim(line.substr(space))};
}

std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) != nullptr ? std::string(resolved) : path;
}

Preflight inspect_program(const std::vector<std::string>& argv) {
  Preflight result;
  result.argv = argv;
  for (int depth = 0; depth <= kMostInterpreters; depth++) {
    const std::string path = find_in_path(result.argv[0]);
    if (path.empty()) {
      struct stat info {};
      if (::stat(argv[0].c_str(), &info) == 0 && S_ISDIR(info.st_mode))
        return refuse(kCannotRun, fmt::format("{}: is a directory, not a program", argv[0]));
      return refuse(kNotFound, fmt::format("{}: no such program in PATH; check the name or give a path", argv[0]));
    }
    if (Preflight bad = check_executable(path); bad.status != 0) return bad;
    std::ifstream file(path, std::ios::binary);
    std::string head(256, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file.gcount()));
    const Shebang shebang = parse_shebang(head);
    if (shebang.interpreter.empty()) {
      const Result<symbols::ElfFile> elf = symbols::inspect_elf(path);
      if (!elf) return refuse(kCannotRun, elf.error().message);
      if (!elf->is_elf) {
        return refuse(kCannotRun, fmt::format("{}: is neither an ELF program nor a script with a #! line; name its "
                                              "interpreter: loopfold record -- INTERPRETER {}",
                                              path, path));
      }
      if (Preflight bad = check_elf(path, *elf); bad.status != 0) return bad;
      result.path = real_path(path);
      return result;
    }
    std::vector<std::string> command = interpreter_command(shebang, path);
    command.insert(command.end(), result.argv.begin() + 1, result.argv.end());
    result.argv = std::move(command);
    result.interpreter = result.argv[0];
  }
  return refuse(kCannotRun, fmt::format("{}: its interpreters are scripts of scripts; name the last one", argv[0]));
}

}  // namespace loopfold::recorder
