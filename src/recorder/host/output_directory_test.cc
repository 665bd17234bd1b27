#include "recorder/host/output_directory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace loopfold::recorder {
namespace {

namespace fs = std::filesystem;

class OutputDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/loopfold-output-XXXXXX";
    base_ = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(base_); }

  void make_trace(const std::string& name, const std::string& tag) {
    fs::create_directories(base_ / name);
    std::ofstream(base_ / name / "trace.lft") << "LOOPFOLD" << tag;
  }
  std::string contents(const std::string& name) {
    std::ifstream file(base_ / name / "trace.lft");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool prepare(const std::string& name) { return prepare_output((base_ / name).string()).has_value(); }

  fs::path base_;
};

TEST_F(OutputDirectoryTest, is_created_with_its_parents) {
  EXPECT_TRUE(prepare("a/b/c"));
  EXPECT_TRUE(fs::is_directory(base_ / "a/b/c"));
}

TEST_F(OutputDirectoryTest, an_empty_one_is_taken) {
  fs::create_directory(base_ / "empty");
  EXPECT_TRUE(prepare("empty/"));
}

TEST_F(OutputDirectoryTest, an_earlier_trace_is_kept_as_old) {
  make_trace("out", "1");
  EXPECT_TRUE(prepare("out"));
  EXPECT_TRUE(fs::is_empty(base_ / "out"));
  EXPECT_EQ(contents("out.old"), "LOOPFOLD1");
  make_trace("out", "2");
  EXPECT_TRUE(prepare("out/"));
  EXPECT_EQ(contents("out.old"), "LOOPFOLD2");
}

TEST_F(OutputDirectoryTest, anything_else_is_left_alone) {
  fs::create_directory(base_ / "mine");
  std::ofstream(base_ / "mine" / "thesis.tex") << "x";
  EXPECT_FALSE(prepare("mine"));
  EXPECT_TRUE(fs::exists(base_ / "mine" / "thesis.tex"));
  std::ofstream(base_ / "file") << "x";
  EXPECT_FALSE(prepare("file"));
  EXPECT_FALSE(prepare("file/below"));
  make_trace("out", "1");
  fs::create_directory(base_ / "out.old");
  std::ofstream(base_ / "out.old" / "thesis.tex") << "x";
  EXPECT_FALSE(prepare("out"));
  EXPECT_EQ(contents("out"), "LOOPFOLD1");
  EXPECT_TRUE(fs::exists(base_ / "out.old" / "thesis.tex"));
}

}  // namespace
}  // namespace loopfold::recorder
