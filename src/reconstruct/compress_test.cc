// Compression: what is expanded is what was there, byte for byte, whatever it was.
#include "reconstruct/compress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace loopfold::reconstruct {

namespace {

class ReconstructCompress : public testing::Test {
 protected:
  ReconstructCompress()
      : directory_(std::filesystem::temp_directory_path() / ("loopfold_compress_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(directory_);
  }
  ~ReconstructCompress() override { std::filesystem::remove_all(directory_); }

  std::string path(const char* name) const { return directory_ / name; }
  void write(const char* name, const std::string& text) const { std::ofstream(path(name), std::ios::binary) << text; }
  std::string read(const char* name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }

  Compressed there_and_back(const std::string& text, std::optional<Format> format = std::nullopt,
                            std::uint64_t compare = 0) const {
    write("trace", text);
    const Result<Compressed> compressed = compress(path("trace"), format, path("packed"), compare);
    EXPECT_TRUE(compressed) << compressed.error().message;
    const Result<std::uint64_t> size = expand(path("packed"), path("back"));
    EXPECT_TRUE(size) << size.error().message;
    EXPECT_EQ(*size, text.size());
    EXPECT_TRUE(read("back") == text);
    return *compressed;
  }

 private:
  std::filesystem::path directory_;
};

TEST_F(ReconstructCompress, ARegularTraceBecomesAFewBytes) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    for (int j = 0; j < 100; ++j)
      text +=
          "0x401000,R," + std::to_string(4096 + 8 * (100 * j + i)) + ",8\n0x401008,W," + std::to_string(8 * i) + ",8\n";
  const Compressed compressed = there_and_back(text, std::nullopt, 1 << 23);
  EXPECT_LT(compressed.bytes_after, 200U);
  EXPECT_EQ(compressed.kept_lines, 0U);
  EXPECT_EQ(compressed.accesses, 60000U);
  ASSERT_TRUE(compressed.zstd_bytes);
  EXPECT_GT(*compressed.zstd_bytes, compressed.bytes_after);
}

TEST_F(ReconstructCompress, OddLinesAreKeptAsTheyAre) {
  there_and_back("# a comment\n\n0x1,R,0x10,8\n1, R ,16,8\nnonsense\n0x1,R,0x18,8\n0x01,R,0x20,08\r\n");
  there_and_back("==1== Lackey\nI  00001000,3\n L 10,8\n L 00000010,8\n==1==\n");
  there_and_back("0x1: R 0x10\n0x1: R 0x18\n#eof\n");
}

TEST_F(ReconstructCompress, EndsAreExact) {
  there_and_back("");
  there_and_back("\n");
  there_and_back("\n\n");
  there_and_back("0x1,R,0x10,8");
  there_and_back("0x1,R,0x10,8\n");
  there_and_back("0x1,R,0x10,8\n\n");
}

TEST_F(ReconstructCompress, RawNumbersAndWhatIsLeftOver) {
  std::string text;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::uint64_t address = (std::uint64_t{1} << 63) + i % 70 * 8 - i / 70;
    text.append(reinterpret_cast<const char*>(&address), sizeof address);
  }
  EXPECT_LT(there_and_back(text, Format::kRaw).bytes_after, 300U);
  there_and_back(text + "abc", Format::kRaw);
  there_and_back("abc", Format::kRaw);
}

TEST_F(ReconstructCompress, RandomTextInEveryFormat) {
  std::mt19937_64 random(1);
  for (const Format format : {Format::kLackey, Format::kPinatrace, Format::kCsv, Format::kRaw})
    for (int trial = 0; trial < 30; ++trial) {
      std::string text;
      for (int line = 0; line < 60; ++line) {
        Record record;
        record.ip = random() % 5;
        record.address = random() % 3 == 0 ? random() : static_cast<std::uint64_t>(line) * 8;
        record.size = random() % 9;
        record.kind = "RWMI"[random() % 4];
        if (random() % 10 == 0)
          text += static_cast<char>(random());
        else
          render(format, record, text);
        if (random() % 20 != 0) text += '\n';
      }
      there_and_back(text, format);
    }
}

TEST_F(ReconstructCompress, WhatIsDamagedIsRefused) {
  write("trace", "0x1,R,0x10,8\n0x1,R,0x18,8\n");
  ASSERT_TRUE(compress(path("trace"), std::nullopt, path("packed"), 0));
  const std::string packed = read("packed");
  for (std::size_t i = 0; i < packed.size(); ++i) {
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x21);
    write("packed", damaged);
    EXPECT_FALSE(expand(path("packed"), path("back"))) << i;
    write("packed", packed.substr(0, i));
    EXPECT_FALSE(expand(path("packed"), path("back"))) << i;
  }
  EXPECT_FALSE(expand(path("nothing"), path("back")));
}

}  // namespace

}  // namespace loopfold::reconstruct
