#include "recorder/host/preflight.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace loopfold::recorder {
namespace {

namespace fs = std::filesystem;

class PreflightTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/loopfold-preflight-XXXXXX";
    directory_ = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& text, mode_t mode) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }

  std::string directory_;
};

TEST(Shebang, is_split_as_the_kernel_does) {
  EXPECT_EQ(parse_shebang("#!/bin/sh\necho").interpreter, "/bin/sh");
  EXPECT_EQ(parse_shebang("#! /usr/bin/perl -w \n").interpreter, "/usr/bin/perl");
  EXPECT_EQ(parse_shebang("#! /usr/bin/perl -w \n").argument, "-w");
  EXPECT_EQ(parse_shebang("#!/usr/bin/env -S python3 -u\n").argument, "-S python3 -u");
  EXPECT_EQ(parse_shebang("#!/bin/sh").interpreter, "/bin/sh");
  EXPECT_EQ(parse_shebang("\177ELF").interpreter, "");
  EXPECT_EQ(parse_shebang("#!").interpreter, "");
}

TEST_F(PreflightTest, a_program_in_the_path_is_found) {
  const Preflight found = inspect_program({"true", "x"});
  EXPECT_EQ(found.status, 0) << found.problem;
  EXPECT_EQ(found.argv, (std::vector<std::string>{"true", "x"}));
  EXPECT_EQ(found.path.front(), '/');
  EXPECT_EQ(found.interpreter, "");
}

TEST_F(PreflightTest, what_is_not_there_is_127) {
  EXPECT_EQ(inspect_program({"no-such-program-here"}).status, 127);
  EXPECT_EQ(inspect_program({directory_ + "/nothing"}).status, 127);
}

TEST_F(PreflightTest, what_cannot_be_run_is_126_and_says_why) {
  EXPECT_EQ(inspect_program({directory_}).status, 126);
  EXPECT_NE(inspect_program({directory_}).problem.find("directory"), std::string::npos);
  const std::string plain = write("plain", "hello\n", 0755);
  EXPECT_EQ(inspect_program({plain}).status, 126);
  std::string elf32("\177ELF\1\1\1", 7);
  elf32.resize(52, '\0');
  elf32[16] = 2;
  elf32[18] = 3;
  EXPECT_EQ(inspect_program({write("elf32", elf32, 0755)}).status, 126);
  EXPECT_NE(inspect_program({write("elf32", elf32, 0755)}).problem.find("32-bit"), std::string::npos);
}

TEST_F(PreflightTest, a_script_runs_through_its_interpreter) {
  const std::string script = write("script", "#!/bin/sh -e\necho\n", 0755);
  const Preflight found = inspect_program({script, "a"});
  EXPECT_EQ(found.status, 0) << found.problem;
  EXPECT_EQ(found.argv, (std::vector<std::string>{"/bin/sh", "-e", script, "a"}));
  EXPECT_EQ(found.interpreter, "/bin/sh");
}

TEST_F(PreflightTest, env_is_looked_through) {
  const std::string script = write("script", "#!/usr/bin/env -S sh -e\necho\n", 0755);
  const Preflight found = inspect_program({script});
  EXPECT_EQ(found.status, 0) << found.problem;
  EXPECT_EQ(found.argv, (std::vector<std::string>{"sh", "-e", script}));
}

TEST_F(PreflightTest, a_script_without_its_interpreter_is_127) {
  EXPECT_EQ(inspect_program({write("script", "#!/no/such/interpreter\n", 0755)}).status, 127);
}

TEST_F(PreflightTest, scripts_that_interpret_each_other_end) {
  const std::string script = directory_ + "/loop";
  write("loop", "#!" + script + "\n", 0755);
  EXPECT_EQ(inspect_program({script}).status, 126);
}

}  // namespace
}  // namespace loopfold::recorder
