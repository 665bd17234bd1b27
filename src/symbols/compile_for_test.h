// For tests: a temporary directory, a compiler to fill it, and binutils to look at what it made.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include "symbols/elf_file.h"
#include "trace/types.h"

namespace loopfold::symbols {

inline std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline bool is_installed(const std::string& command) {
  return std::system(("command -v " + command + " > /dev/null 2>&1").c_str()) == 0;
}

/// A fresh directory that is removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "loopfold-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

  std::string write(const std::string& name, const std::string& contents) const {
    std::ofstream(file(name), std::ios::binary) << contents;
    return file(name);
  }

  /// Runs a shell command in the directory and fails the test if it fails.
  void run(const std::string& command) const {
    const std::string line = "cd '" + path_.string() + "' && " + command;
    ASSERT_EQ(std::system(line.c_str()), 0) << line;
  }

  std::string output_of(const std::string& command) const {
    run(command + " > out.txt");
    return read_whole(file("out.txt"));
  }

  /// Defined functions of a program, by name.
  std::map<std::string, std::uint64_t> functions(const std::string& program) const {
    std::istringstream lines(output_of("nm --defined-only " + program));
    std::map<std::string, std::uint64_t> result;
    std::string address;
    std::string kind;
    std::string name;
    while (lines >> address >> kind >> name) {
      if (kind == "T" || kind == "t") result[name] = std::stoull(address, nullptr, 16);
    }
    return result;
  }

  /// A program as if it had been loaded with `bias`, or where it must be.
  trace::Module module(const std::string& program, std::uint64_t bias) const {
    trace::Module result;
    result.path = file(program);
    const Result<ElfFile> elf = inspect_elf(result.path);
    EXPECT_TRUE(elf.has_value());
    if (!elf) return result;
    result.build_id = elf->build_id;
    result.load_bias = elf->type == ElfFile::Type::kExecutable ? 0 : bias;
    for (const ElfFile::Segment& segment : elf->segments) {
      if (!segment.executable) continue;
      result.start = segment.address + result.load_bias;
      result.size = segment.memory_size;
    }
    return result;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace loopfold::symbols
