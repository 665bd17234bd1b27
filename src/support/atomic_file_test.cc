#include "support/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace loopfold {
namespace {

class AtomicFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "loopfold-file-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(directory_);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  static std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::string directory_;
};

TEST_F(AtomicFile, is_written_and_replaced) {
  EXPECT_TRUE(write_whole_file(path("a"), "one"));
  EXPECT_EQ(contents(path("a")), "one");
  EXPECT_TRUE(write_whole_file(path("a"), ""));
  EXPECT_EQ(contents(path("a")), "");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, a_link_stays_a_link) {
  EXPECT_TRUE(write_whole_file(path("a"), "one"));
  ASSERT_EQ(::symlink(path("a").c_str(), path("link").c_str()), 0);
  EXPECT_TRUE(write_whole_file(path("link"), "two"));
  EXPECT_EQ(contents(path("a")), "two");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
}

TEST_F(AtomicFile, what_cannot_be_written_leaves_nothing) {
  const Result<void> missing = write_whole_file(path("no/such/a"), "one");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(missing.error().message, path("no/such/a") + ": cannot be written: No such file or directory");
  EXPECT_FALSE(write_whole_file(directory_, "one"));
  EXPECT_EQ(files(), 0u);
}

TEST_F(AtomicFile, devices_are_written_to) {
  EXPECT_TRUE(write_whole_file("/dev/null", "one"));
  const Result<void> full = write_whole_file("/dev/full", "one");
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("No space left"), std::string::npos) << full.error().message;
  struct stat info {};
  ASSERT_EQ(::stat("/dev/full", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

}  // namespace
}  // namespace loopfold
