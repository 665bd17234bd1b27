// Where functions start, in programs with symbols and without, and whose a cold part is.
#include "symbols/function_table.h"

#include <fmt/core.h>

#include "symbols/compile_for_test.h"
#include "symbols/symbolizer.h"

namespace loopfold::symbols {
namespace {

constexpr std::uint64_t kBias = 0x555500000000;

constexpr const char* kSource = R"(#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
static __attribute__((noinline)) int twice(const std::string& s) {
  if (s.size() > 100) throw std::runtime_error(s);
  return 2 * static_cast<int>(s.size());
}
__attribute__((noinline)) int work(int n, const char* text) {
  std::string copy(text);
  for (int i = 0; i < n; ++i) copy += text;
  return twice(copy);
}
int main(int argc, char** argv) {
  try {
    std::printf("%d\n", work(argc, argv[0]));
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
)";

class FunctionTableTest : public testing::Test {
 protected:
  void build(const std::string& flags) {
    directory_.write("demo.cc", kSource);
    directory_.run("g++ " + flags + " demo.cc -o demo");
  }

  TemporaryDirectory directory_;
};

TEST_F(FunctionTableTest, StartsAndRanges) {
  build("-O2");
  Symbolizer symbolizer({directory_.module("demo", kBias)});
  int cold = 0;
  for (const auto& [name, address] : directory_.functions("demo")) {
    SCOPED_TRACE(name);
    if (name == "_dl_relocate_static_pie") continue;
    const std::uint64_t place = address + kBias;
    const bool is_cold = name.ends_with(".cold");
    cold += is_cold ? 1 : 0;
    EXPECT_EQ(symbolizer.is_function_start(place), !is_cold);
    EXPECT_FALSE(symbolizer.is_function_start(place + 1));
    const std::optional<FunctionRange> range = symbolizer.function_range(place + 1);
    ASSERT_TRUE(range.has_value());
    EXPECT_EQ(range->start, place);
    EXPECT_EQ(symbolizer.function_range(range->end - 1), range);
  }
  EXPECT_GE(cold, 2);
}

TEST_F(FunctionTableTest, ColdPartsBelongToTheirFunctions) {
  build("-O2");
  Symbolizer symbolizer({directory_.module("demo", kBias)});
  const std::map<std::string, std::uint64_t> functions = directory_.functions("demo");
  int parts = 0;
  for (const auto& [name, address] : functions) {
    if (!name.ends_with(".cold")) continue;
    ++parts;
    const std::uint64_t owner = functions.at(name.substr(0, name.size() - 5)) + kBias;
    EXPECT_EQ(symbolizer.function_of(address + kBias), owner) << name;
    EXPECT_EQ(symbolizer.function_of(address + kBias + 2), owner) << name;
    EXPECT_EQ(symbolizer.function_of(owner + 1), owner) << name;
  }
  EXPECT_GE(parts, 2);
}

/// Each file has its own local `step` with a cold part.
TEST_F(FunctionTableTest, LocalFunctionsOfTheSameName) {
  for (const char* unit : {"a", "b"}) {
    directory_.write(std::string(unit) + ".c",
                     fmt::format("__attribute__((cold)) void lost(int);\n"
                                 "static __attribute__((noinline)) int step(int n) {{\n"
                                 "  if (n > 9) lost(n);\n"
                                 "  return n * 3;\n}}\nint run_{0}(int n) {{ return step(n) + step(n + 1); }}\n",
                                 unit));
  }
  directory_.write("main.c",
                   "volatile int sink;\nint run_a(int);\nint run_b(int);\n"
                   "__attribute__((cold)) void lost(int n) { sink = n; }\n"
                   "int main(int c, char** v) { (void)v; return run_a(c) + run_b(c); }\n");
  directory_.run("gcc -O2 -g a.c b.c main.c -o demo");
  Symbolizer symbolizer({directory_.module("demo", kBias)});
  std::istringstream lines(directory_.output_of("nm demo | sed -n 's/^\\([0-9a-f]*\\) t \\(step.*\\)/\\1 \\2/p'"));
  std::map<std::string, std::uint64_t> step_of_file;
  std::vector<std::uint64_t> cold;
  std::string address;
  std::string name;
  while (lines >> address >> name) {
    const std::uint64_t place = std::stoull(address, nullptr, 16) + kBias;
    if (name.ends_with(".cold")) {
      cold.push_back(place);
    } else {
      step_of_file[symbolizer.locate(place).file] = place;
    }
  }
  ASSERT_EQ(step_of_file.size(), 2u);
  ASSERT_EQ(cold.size(), 2u);
  for (const std::uint64_t part : cold) {
    EXPECT_EQ(symbolizer.function_of(part), step_of_file.at(std::string(symbolizer.locate(part).frames.back().file)));
  }
}

/// The unwind table has the functions still, and knows cold parts.
TEST_F(FunctionTableTest, Stripped) {
  build("-O2");
  const std::map<std::string, std::uint64_t> functions = directory_.functions("demo");
  directory_.run("strip demo");
  Symbolizer symbolizer({directory_.module("demo", kBias)});
  for (const char* name : {"main", "_Z4workiPKc", "_start"}) {
    const std::uint64_t place = functions.at(name) + kBias;
    EXPECT_TRUE(symbolizer.is_function_start(place)) << name;
    EXPECT_EQ(symbolizer.function_of(place + 3), place) << name;
  }
  EXPECT_FALSE(symbolizer.is_function_start(functions.at("main.cold") + kBias));
  EXPECT_FALSE(symbolizer.is_function_start(functions.at("main") + kBias + 4));
  EXPECT_TRUE(symbolizer.function_range(functions.at("main.cold") + kBias).has_value());
}

/// Fedora's programs keep a small symbol table, compressed.
TEST_F(FunctionTableTest, SymbolsInDebugData) {
  if (!is_installed("xz")) GTEST_SKIP() << "xz is not installed";
  build("-O2");
  const std::map<std::string, std::uint64_t> functions = directory_.functions("demo");
  directory_.run(
      "nm demo --format=posix --defined-only | awk '$2 == \"T\" || $2 == \"t\" { print $1 }' > keep && "
      "objcopy -S --keep-symbols=keep demo mini && xz mini && strip demo && "
      "objcopy --add-section .gnu_debugdata=mini.xz demo");
  Symbolizer symbolizer({directory_.module("demo", kBias)});
  EXPECT_EQ(symbolizer.describe(functions.at("main") + kBias), "main (demo)");
  const std::uint64_t cold = functions.at("_Z4workiPKc.cold") + kBias;
  EXPECT_EQ(symbolizer.function_of(cold), functions.at("_Z4workiPKc") + kBias);
}

TEST_F(FunctionTableTest, FunctionsOfNoFile) {
  trace::Module gone;
  gone.path = directory_.file("gone");
  gone.start = 0x1000;
  gone.size = 0x1000;
  Symbolizer symbolizer({gone});
  for (const std::uint64_t address : {std::uint64_t{0x1000}, std::uint64_t{0x5000}}) {
    EXPECT_FALSE(symbolizer.is_function_start(address));
    EXPECT_FALSE(symbolizer.function_range(address).has_value());
    EXPECT_EQ(symbolizer.function_of(address), 0u);
    EXPECT_FALSE(symbolizer.in_plt(address));
  }
}

/// Without a size, a function reaches to the next one.
TEST(FunctionTable, SymbolsWithoutSizes) {
  std::vector<ElfSymbol> symbols(4);
  symbols[0] = {0x100, 0, "first", true, true, 0};
  symbols[1] = {0x140, 0x20, "second", true, true, 0};
  symbols[2] = {0x180, 0, "label", false, false, 0};
  symbols[3] = {0x900, 0x10, "data", false, true, 0};
  const FunctionTable table(symbols, {}, {{0x100, 0x200}}, {});
  EXPECT_EQ(table.find(0x120)->end, 0x140u);
  EXPECT_EQ(table.find(0x140)->end, 0x160u);
  EXPECT_FALSE(table.find(0x170).has_value());
  EXPECT_FALSE(table.is_start(0x180));
  EXPECT_EQ(table.name(0x120)->name, "first");
  EXPECT_FALSE(table.name(0x120)->covers);
  EXPECT_EQ(table.name(0x150)->name, "second");
  EXPECT_FALSE(table.name(0x170).has_value()) << "behind a symbol that has ended";
  EXPECT_EQ(table.name(0x1ff)->name, "label");
  EXPECT_FALSE(table.name(0x900).has_value()) << "no code";
}

TEST(FunctionTable, EntriesInsideEachOther) {
  std::vector<ElfSymbol> symbols(2);
  symbols[0] = {0x100, 0x80, "outer", true, true, 0};
  symbols[1] = {0x120, 0x20, "inner", true, false, 0};
  const std::vector<UnwindRange> unwind = {{0x100, 0x180, true}, {0x130, 0x138, true}, {0x180, 0x190, false}};
  const FunctionTable table(symbols, unwind, {{0x100, 0x200}}, {});
  EXPECT_EQ(table.find(0x11f)->start, 0x100u);
  EXPECT_EQ(table.find(0x13f)->start, 0x120u);
  EXPECT_EQ(table.find(0x140)->start, 0x100u);
  EXPECT_TRUE(table.is_start(0x120));
  EXPECT_FALSE(table.is_start(0x130)) << "a symbol covers it";
  EXPECT_FALSE(table.is_start(0x180)) << "starts with a frame";
  EXPECT_EQ(table.find(0x188)->start, 0x180u);
}

}  // namespace
}  // namespace loopfold::symbols
