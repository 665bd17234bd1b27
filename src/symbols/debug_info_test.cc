// Inlined frames: as the source has them, as addr2line finds them, and through the ways in which DWARF can be spread
// over units and files.
#include "symbols/debug_info.h"

#include <fmt/core.h>

#include <filesystem>
#include <set>

#include "symbols/compile_for_test.h"
#include "symbols/symbolizer.h"

namespace loopfold::symbols {
namespace {

constexpr std::uint64_t kBias = 0x7f0000000000;

constexpr const char* kSource = R"(volatile int sink;
static inline __attribute__((always_inline)) void inner(int x) {
  sink = x;
}
static inline __attribute__((always_inline)) void middle(int x) {
  inner(x + 1);
  inner(x + 2);
}
__attribute__((noinline)) void outer(int x) {
  middle(x);
  sink = 7;
  middle(x * x);
}
int main(int argc, char** argv) {
  (void)argv;
  outer(argc);
  return 0;
}
)";

class DebugInfoTest : public testing::Test {
 protected:
  void build(const std::string& flags) {
    directory_.write("demo.c", kSource);
    directory_.run("gcc " + flags + " demo.c -o demo");
  }

  /// "inner:3 middle:6 outer:10" for the instructions of a function, in order, each once.
  std::vector<std::string> stacks(Symbolizer& symbolizer, std::uint64_t address) {
    std::vector<std::string> result;
    const std::optional<FunctionRange> range = symbolizer.function_range(address);
    EXPECT_TRUE(range.has_value());
    for (std::uint64_t at = address; range && at < range->end; ++at) {
      std::string text;
      for (const Frame& frame : symbolizer.locate(at).frames) {
        EXPECT_EQ(std::filesystem::path(frame.file).filename(), "demo.c");
        text += fmt::format("{}{}:{}", text.empty() ? "" : " ", frame.function, frame.line);
      }
      if (result.empty() || result.back() != text) result.push_back(text);
    }
    return result;
  }

  TemporaryDirectory directory_;
};

TEST_F(DebugInfoTest, InlinedFrames) {
  for (const char* flags : {"-O1 -g -gdwarf-5", "-O1 -g -gdwarf-4", "-O2 -g -gz", "-O2 -g -gdwarf-4 -gz=zlib-gnu",
                            "-O1 -g -fdebug-types-section", "-O1 -g -no-pie", "-O1 -g -static"}) {
    SCOPED_TRACE(flags);
    build(flags);
    const trace::Module demo = directory_.module("demo", kBias);
    Symbolizer symbolizer({demo});
    const std::uint64_t outer = directory_.functions("demo").at("outer") + demo.load_bias;
    const std::vector<std::string> found = stacks(symbolizer, outer);
    const std::set<std::string> all(found.begin(), found.end());
    for (const char* expected : {"inner:3 middle:6 outer:10", "inner:3 middle:7 outer:10", "inner:3 middle:6 outer:12",
                                 "inner:3 middle:7 outer:12", "outer:13"}) {
      EXPECT_TRUE(all.contains(expected)) << expected;
    }
    EXPECT_EQ(symbolizer.locate(outer).function, "outer");
    EXPECT_EQ(symbolizer.locate(outer).line, symbolizer.locate(outer).frames.front().line);
  }
}

/// Two calls of one function are two instances of it.
TEST_F(DebugInfoTest, InstancesAndFunctions) {
  build("-O1 -g");
  Symbolizer symbolizer({directory_.module("demo", kBias)});
  const std::uint64_t outer = directory_.functions("demo").at("outer") + kBias;
  std::map<std::string, std::set<std::uint64_t>> scopes;
  std::map<std::string, std::set<std::uint64_t>> functions;
  std::set<std::uint64_t> all;
  const std::uint64_t end = symbolizer.function_range(outer)->end;
  for (std::uint64_t at = outer; at < end; ++at) {
    for (const Frame& frame : symbolizer.locate(at).frames) {
      scopes[std::string(frame.function)].insert(frame.scope);
      functions[std::string(frame.function)].insert(frame.function_id);
      all.insert(frame.scope);
    }
  }
  EXPECT_EQ(scopes["inner"].size(), 4u);
  EXPECT_EQ(scopes["middle"].size(), 2u);
  EXPECT_EQ(scopes["outer"].size(), 1u);
  EXPECT_EQ(all.size(), 7u);
  for (const char* name : {"inner", "middle", "outer"}) EXPECT_EQ(functions[name].size(), 1u) << name;
}

/// DWARF 4, because addr2line of binutils 2.40 mixes up the files of DWARF 5.
TEST_F(DebugInfoTest, AgreesWithAddr2line) {
  directory_.write("demo.cc",
                   "#include <algorithm>\n#include <cstdio>\n#include <map>\n#include <numeric>\n#include <vector>\n"
                   "int main(int argc, char** argv) {\n"
                   "  std::map<int, std::vector<long>> m;\n"
                   "  for (int i = 0; i < argc * 9; ++i) m[argv[0][i % 3]].push_back(i);\n"
                   "  long sum = 0;\n"
                   "  for (auto& [key, v] : m) {\n"
                   "    std::sort(v.begin(), v.end(), [k = key](long a, long b) { return a % k < b % k; });\n"
                   "    sum += std::accumulate(v.begin(), v.end(), 0L);\n"
                   "  }\n"
                   "  std::printf(\"%ld\\n\", sum);\n"
                   "}\n");
  for (const char* compiler : {"g++ -O2", "g++ -O0", "clang++ -O2"}) {
    if (!is_installed(std::string(compiler).substr(0, std::string(compiler).find(' ')))) continue;
    SCOPED_TRACE(compiler);
    directory_.run(std::string(compiler) + " -std=c++17 -g -gdwarf-4 demo.cc -o demo");
    const trace::Module demo = directory_.module("demo", kBias);
    Symbolizer symbolizer({demo});
    const std::uint64_t main = directory_.functions("demo").at("main");
    const FunctionRange range = symbolizer.function_range(main + kBias).value();
    std::string addresses;
    for (std::uint64_t at = range.start; at < range.end; ++at) addresses += fmt::format("{:#x}\n", at - kBias);
    directory_.write("addresses", addresses);
    std::istringstream lines(directory_.output_of("addr2line -a -i -e demo < addresses"));
    std::vector<std::string> expected;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("0x")) {
        expected.emplace_back();
      } else {
        expected.back() += line.substr(line.find_last_of('/') + 1, line.find(" (") - line.find_last_of('/') - 1) + " ";
      }
    }
    ASSERT_EQ(expected.size(), range.end - range.start);
    for (std::uint64_t at = range.start; at < range.end; ++at) {
      std::string found;
      for (const Frame& frame : symbolizer.locate(at).frames) {
        found += fmt::format("{}:{} ", frame.file.substr(frame.file.find_last_of('/') + 1),
                             frame.line == 0 ? "?" : std::to_string(frame.line));
      }
      EXPECT_EQ(found, expected[at - range.start]) << fmt::format("{:#x}", at - kBias);
    }
  }
}

TEST_F(DebugInfoTest, ColumnsAreThere) {
  build("-O0 -g");
  Symbolizer symbolizer({directory_.module("demo", kBias)});
  const Location& main = symbolizer.locate(directory_.functions("demo").at("main") + kBias);
  EXPECT_EQ(main.line, 14);
  EXPECT_EQ(main.column, 33);
  EXPECT_EQ(main.frames.front().column, 33);
}

/// Without debug information there is one frame, and its scope is the function's.
TEST_F(DebugInfoTest, SymbolsOnly) {
  build("-O1");
  Symbolizer symbolizer({directory_.module("demo", kBias)});
  const std::uint64_t outer = directory_.functions("demo").at("outer") + kBias;
  const Location& first = symbolizer.locate(outer);
  const Location& second = symbolizer.locate(outer + 4);
  const Location& main = symbolizer.locate(directory_.functions("demo").at("main") + kBias);
  ASSERT_EQ(first.frames.size(), 1u);
  EXPECT_EQ(first.frames[0].function, "outer");
  EXPECT_EQ(first.frames[0].line, 0);
  EXPECT_NE(first.frames[0].scope, 0u);
  EXPECT_EQ(first.frames[0].scope, second.frames[0].scope);
  EXPECT_NE(first.frames[0].scope, main.frames[0].scope);
}

/// A function that is inlined in another unit than the one that describes it.
TEST_F(DebugInfoTest, LinkTimeOptimisation) {
  directory_.write("a.c", "int triple(int x) {\n  return 3 * x + 1;\n}\n");
  directory_.write("demo.c",
                   "int triple(int);\nvolatile int sink;\n"
                   "__attribute__((noinline)) void outer(int x) {\n  sink = triple(x);\n}\n"
                   "int main(int argc, char** argv) { (void)argv; outer(argc); return 0; }\n");
  directory_.run("gcc -g -O2 -flto a.c demo.c -o demo");
  Symbolizer symbolizer({directory_.module("demo", kBias)});
  const std::uint64_t outer = directory_.functions("demo").at("outer") + kBias;
  bool found = false;
  const std::uint64_t end = symbolizer.function_range(outer)->end;
  for (std::uint64_t at = outer; at < end; ++at) {
    const std::vector<Frame>& frames = symbolizer.locate(at).frames;
    if (frames.size() != 2) continue;
    found = true;
    EXPECT_EQ(frames[0].function, "triple");
    EXPECT_EQ(frames[0].file, directory_.file("a.c"));
    EXPECT_EQ(frames[0].line, 2);
    EXPECT_EQ(frames[1].function, "outer");
    EXPECT_EQ(frames[1].line, 4);
  }
  EXPECT_TRUE(found);
}

/// What dwz makes, made by hand: a function whose inlined callee is described in an alternate file, with a name there.
TEST_F(DebugInfoTest, AlternateFile) {
  directory_.write(
      "common.s",
      ".section .note.gnu.build-id, \"a\"\n.long 4, 8, 3\n.asciz \"GNU\"\n.byte 0xab, 0xcd, 1, 2, 3, 4, 5, 6\n"
      ".section .debug_str, \"MS\", @progbits, 1\n.asciz \"unused\"\n.asciz \"shared_callee\"\n"
      ".section .debug_abbrev\n"
      ".uleb128 1, 0x3c\n.byte 1\n.uleb128 0, 0\n"
      ".uleb128 2, 0x2e\n.byte 0\n.uleb128 3, 0x0e, 0x20, 0x0b, 0, 0\n.byte 0\n"
      ".section .debug_info\n"
      ".long 2f - 1f\n1: .short 4\n.long 0\n.byte 8\n"
      ".uleb128 1\n.uleb128 2\n.long 7\n.byte 1\n.byte 0\n2:\n");
  directory_.write(
      "demo.s",
      ".globl outer\n.type outer, @function\nouter: nop\n.Lin: nop\n.Lout: ret\n.Lend: .size outer, . - outer\n"
      ".section .gnu_debugaltlink\n.asciz \"common.dwz\"\n.byte 0xab, 0xcd, 1, 2, 3, 4, 5, 6\n"
      ".section .debug_abbrev\n"
      ".uleb128 1, 0x11\n.byte 1\n.uleb128 0x11, 0x01, 0x12, 0x07, 0, 0\n"
      ".uleb128 2, 0x2e\n.byte 1\n.uleb128 3, 0x1f21, 0x11, 0x01, 0x12, 0x07, 0, 0\n"
      ".uleb128 3, 0x1d\n.byte 0\n.uleb128 0x31, 0x1f20, 0x11, 0x01, 0x12, 0x07, 0x59, 0x0b, 0, 0\n.byte 0\n"
      ".section .debug_info\n"
      ".long 2f - 1f\n1: .short 4\n.long 0\n.byte 8\n"
      ".uleb128 1\n.quad outer, .Lend - outer\n"
      ".uleb128 2\n.long 0\n.quad outer, .Lend - outer\n"
      ".uleb128 3\n.long 12\n.quad .Lin, .Lout - .Lin\n.byte 42\n"
      ".byte 0, 0\n2:\n");
  directory_.run("gcc -c common.s -o common.dwz && gcc -shared -nostdlib demo.s -o demo");
  const auto names = [&] {
    Symbolizer symbolizer({directory_.module("demo", kBias)});
    const std::uint64_t outer = directory_.functions("demo").at("outer") + kBias;
    std::vector<std::string> result;
    for (const Frame& frame : symbolizer.locate(outer + 1).frames) {
      result.push_back(fmt::format("{}:{}", frame.function, frame.line));
    }
    EXPECT_EQ(symbolizer.locate(outer).frames.size(), 1u);
    return result;
  };
  EXPECT_EQ(names(), (std::vector<std::string>{"shared_callee:0", "outer:42"}));
  directory_.run("sed -i 's/4, 5, 6/4, 5, 7/' common.s && gcc -c common.s -o common.dwz");
  EXPECT_EQ(names(), (std::vector<std::string>{":0", "outer:42"})) << "somebody else's alternate file";
}

TEST_F(DebugInfoTest, Dwz) {
  if (!is_installed("dwz")) GTEST_SKIP() << "dwz is not installed";
  build("-O1 -g");
  const std::uint64_t outer = directory_.functions("demo").at("outer") + kBias;
  Symbolizer before({directory_.module("demo", kBias)});
  const std::vector<std::string> expected = stacks(before, outer);
  directory_.run(
      "cp demo other && dwz -m common.dwz -M common.dwz demo other && readelf -SW demo | grep -q debugaltlink");
  Symbolizer after({directory_.module("demo", kBias)});
  EXPECT_EQ(stacks(after, outer), expected);
}

}  // namespace
}  // namespace loopfold::symbols
