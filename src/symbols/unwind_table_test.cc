// Against what readelf says about the same section.
#include "symbols/unwind_table.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "symbols/compile_for_test.h"

namespace loopfold::symbols {
namespace {

constexpr const char* kSource = R"(#include <cstdio>
#include <stdexcept>
#include <string>
__attribute__((noinline, cold)) void fail(int n) { throw std::runtime_error("n" + std::to_string(n)); }
__attribute__((noinline)) int work(int n) {
  std::string text(static_cast<std::size_t>(n), 'x');
  if (n > 1000) fail(n);
  for (char& c : text) c = static_cast<char>(c + n);
  std::puts(text.c_str());
  return n;
}
int main(int argc, char**) {
  try {
    return work(argc);
  } catch (const std::exception& e) {
    std::puts(e.what());
  }
  return 1;
}
)";

struct Section {
  std::uint64_t address = 0;
  std::string bytes;

  std::vector<UnwindRange> read() const {
    return read_unwind_table({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}, address);
  }
};

class UnwindTableTest : public testing::Test {
 protected:
  Section section(const std::string& flags) {
    directory_.write("demo.cc", kSource);
    directory_.run("g++ -O2 " + flags + " demo.cc -o demo && objcopy -O binary -j .eh_frame demo eh_frame");
    std::istringstream line(directory_.output_of("readelf -SW demo | sed -n 's/.* [.]eh_frame  *[A-Z0-9_]*//p'"));
    Section result;
    line >> std::hex >> result.address;
    result.bytes = read_whole(directory_.file("eh_frame"));
    return result;
  }

  /// Ranges of the FDEs, with the CFA of their first row; an FDE without rows of its own has its CIE's.
  std::vector<UnwindRange> from_readelf() {
    std::istringstream lines(directory_.output_of("readelf -wF demo"));
    std::vector<UnwindRange> ranges;
    std::map<std::string, bool> common_enters;
    std::string common;
    bool in_fde = false;
    bool wants_row = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" CIE ") != std::string::npos) {
        common = line.substr(0, line.find(' '));
        in_fde = false;
        wants_row = true;
      } else if (line.find(" FDE ") != std::string::npos) {
        const std::size_t pc = line.find("pc=");
        UnwindRange range;
        range.start = std::stoull(line.substr(pc + 3), nullptr, 16);
        range.end = std::stoull(line.substr(line.find("..", pc) + 2), nullptr, 16);
        range.enters_function = common_enters[line.substr(line.find("cie=") + 4, 8)];
        ranges.push_back(range);
        in_fde = true;
        wants_row = true;
      } else if (wants_row && !line.empty() && line.find("LOC") == std::string::npos) {
        std::istringstream words(line);
        std::string address;
        std::string cfa;
        words >> address >> cfa;
        bool& enters = in_fde ? ranges.back().enters_function : common_enters[common];
        enters = cfa == "rsp+8";
        wants_row = false;
      }
    }
    return ranges;
  }

  TemporaryDirectory directory_;
};

TEST_F(UnwindTableTest, AgreesWithReadelf) {
  for (const char* flags : {"", "-no-pie", "-fno-omit-frame-pointer -m64", "-static"}) {
    SCOPED_TRACE(flags);
    const std::vector<UnwindRange> found = section(flags).read();
    EXPECT_GT(found.size(), 4u);
    const std::vector<UnwindRange> expected = from_readelf();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i], expected[i]) << fmt::format("{:#x}", expected[i].start);
    }
  }
}

/// The part of `main` that catches is jumped to with a frame; `work` is called.
TEST_F(UnwindTableTest, ColdPartsEnterNoFunction) {
  const std::vector<UnwindRange> found = section("").read();
  const std::map<std::string, std::uint64_t> functions = directory_.functions("demo");
  const auto enters = [&](const std::string& name) {
    for (const UnwindRange& range : found) {
      if (range.start == functions.at(name)) return range.enters_function;
    }
    ADD_FAILURE() << name;
    return false;
  };
  EXPECT_TRUE(enters("main"));
  EXPECT_TRUE(enters("_Z4worki"));
  EXPECT_FALSE(enters("main.cold"));
  EXPECT_FALSE(enters("_Z4worki.cold"));
}

TEST_F(UnwindTableTest, DamageAndTruncation) {
  const Section good = section("");
  for (std::size_t size = 0; size < good.bytes.size(); ++size) {
    const Section cut = {good.address, good.bytes.substr(0, size)};
    EXPECT_LE(cut.read().size(), good.read().size());
  }
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    Section bad = good;
    for (int i = 0; i < 4; ++i) bad.bytes[random() % bad.bytes.size()] = static_cast<char>(random());
    for (const UnwindRange& range : bad.read()) EXPECT_LT(range.start, range.end);
  }
}

}  // namespace
}  // namespace loopfold::symbols
