// Compiles small programs in all the ways debug information can be stored, and asks for addresses in them. The truth is
// nm for functions and binutils' addr2line, an independent DWARF reader, for lines.
#include "symbols/symbolizer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>

#include "symbols/compile_for_test.h"
#include "symbols/debug_file.h"
#include "symbols/elf_file.h"

namespace loopfold::symbols {
namespace {

constexpr const char* kSource = R"(#include <stdio.h>
static int helper(int x) {
  return 3 * x;
}
__attribute__((noinline)) int work(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum += helper(i);
  return sum;
}
int main(int argc, char** argv) {
  (void)argv;
  printf("%d\n", work(argc));
  return 0;
}
)";

constexpr std::uint64_t kBias = 0x555500000000;

class SymbolizerTest : public testing::Test {
 protected:
  void SetUp() override { directory_.write("demo.c", kSource); }

  void build(const std::string& flags) { directory_.run("gcc " + flags + " demo.c -o demo"); }

  std::string output_of(const std::string& command) { return directory_.output_of(command); }
  std::map<std::string, std::uint64_t> functions(const std::string& file) { return directory_.functions(file); }
  trace::Module module(const std::string& name) { return directory_.module(name, kBias); }

  TemporaryDirectory directory_;
};

TEST_F(SymbolizerTest, AllWaysOfStoringLines) {
  for (const char* flags :
       {"-g -O0 -gdwarf-5", "-g -O0 -gdwarf-4", "-g -O0 -gdwarf-5 -gz", "-g -O0 -gdwarf-4 -gz=zlib-gnu",
        "-g -O0 -no-pie", "-g -O0 -static -no-pie", "-g -O0 -gdwarf-5 -gsplit-dwarf",
        "-g -O0 -fuse-ld=bfd -ffunction-sections -Wl,--build-id=none"}) {
    SCOPED_TRACE(flags);
    build(flags);
    const std::map<std::string, std::uint64_t> names = functions("demo");
    const trace::Module demo = module("demo");
    Symbolizer symbolizer({demo});
    const std::uint64_t work = names.at("work") + demo.load_bias;
    const Location& location = symbolizer.locate(work);
    EXPECT_EQ(location.function, "work");
    EXPECT_EQ(location.offset, 0u);
    EXPECT_EQ(location.file, directory_.file("demo.c"));
    EXPECT_EQ(location.line, 5);
    EXPECT_EQ(location.module, "demo");
    EXPECT_EQ(location.module_offset, names.at("work"));
    EXPECT_EQ(symbolizer.describe(work), "work (demo.c:5)");
    EXPECT_EQ(symbolizer.describe(work + 1).substr(0, 16), "work+0x1 (demo.c");
    EXPECT_EQ(&symbolizer.locate(work), &location) << "cached";
    EXPECT_TRUE(symbolizer.warnings().empty());
  }
}

/// Every byte of `work` and `main` has the line that addr2line gives it.
TEST_F(SymbolizerTest, AgreesWithAddr2line) {
  for (const char* flags : {"-g -O0", "-g -O2 -gdwarf-4", "-g -O3 -gdwarf-5"}) {
    SCOPED_TRACE(flags);
    build(flags);
    const trace::Module demo = module("demo");
    Symbolizer symbolizer({demo});
    for (const char* name : {"work", "main"}) {
      const std::uint64_t begin = functions("demo").at(name);
      std::string command = "addr2line -e demo";
      for (std::uint64_t i = 0; i < 40; ++i) command += fmt::format(" {:#x}", begin + i);
      std::istringstream lines(output_of(command));
      std::string expected;
      for (std::uint64_t i = 0; std::getline(lines, expected); ++i) {
        const Location& location = symbolizer.locate(demo.load_bias + begin + i);
        if (location.file.find("demo.c") == std::string::npos) continue;
        expected = expected.substr(0, expected.find(" (discriminator"));
        EXPECT_EQ(fmt::format("{}:{}", location.file, location.line), expected) << name << "+" << i;
      }
    }
  }
}

/// clang writes no .debug_aranges.
TEST_F(SymbolizerTest, WithoutAddressRanges) {
  directory_.run("gcc -g -O0 -c demo.c -o demo.o && objcopy -R .debug_aranges -R .rela.debug_aranges demo.o");
  directory_.run("gcc demo.o -o demo && objcopy -R .debug_aranges demo");
  const trace::Module demo = module("demo");
  Symbolizer symbolizer({demo});
  EXPECT_EQ(symbolizer.describe(functions("demo").at("work") + kBias), "work (demo.c:5)");
}

TEST_F(SymbolizerTest, SymbolsWithoutDebugInformation) {
  build("-O1");
  Symbolizer symbolizer({module("demo")});
  const std::uint64_t work = functions("demo").at("work") + kBias;
  EXPECT_EQ(symbolizer.describe(work), "work (demo)");
  EXPECT_EQ(symbolizer.describe(work + 1), "work+0x1 (demo)");
  EXPECT_EQ(symbolizer.locate(work).file, "");
}

TEST_F(SymbolizerTest, PublicNameOfAnAliasedFunction) {
  directory_.write("demo.c",
                   "int __demo_take(void) { return 1; }\n"
                   "int take(void) __attribute__((alias(\"__demo_take\")));\n"
                   "int __take_it(void) __attribute__((alias(\"__demo_take\")));\n"
                   "int main(void) { return take(); }\n");
  build("-g -O0");
  Symbolizer symbolizer({module("demo")});
  EXPECT_EQ(symbolizer.describe(functions("demo").at("__demo_take") + kBias), "take (demo.c:1)");
}

/// Damaged files give no names or other names, never a crash.
TEST_F(SymbolizerTest, DamagedFiles) {
  build("-g -O0 -nostartfiles -Wl,-e,main -Wl,--build-id=none");
  const trace::Module demo = module("demo");
  const std::string good = read_whole(demo.path);
  std::mt19937 random(3);
  for (int round = 0; round < 120; ++round) {
    std::string bytes = good;
    if (round % 4 == 0) bytes.resize(random() % bytes.size());
    for (unsigned i = 0; i < 6 && !bytes.empty(); ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    directory_.write("demo", bytes);
    Symbolizer symbolizer({demo});
    for (std::uint64_t offset = 0; offset < demo.size; offset += 16) symbolizer.describe(demo.start + offset);
  }
}

TEST_F(SymbolizerTest, Stripped) {
  build("-g -O1");
  const std::uint64_t work = functions("demo").at("work");
  directory_.run("strip demo");
  Symbolizer symbolizer({module("demo")});
  EXPECT_EQ(symbolizer.describe(work + kBias), fmt::format("demo+{:#x}", work));
  EXPECT_TRUE(symbolizer.warnings().empty());
}

/// DWARF names the function if there is no symbol.
TEST_F(SymbolizerTest, DebugInformationWithoutSymbols) {
  build("-g -O1");
  const std::uint64_t work = functions("demo").at("work");
  directory_.run("objcopy --strip-symbol=work demo");
  Symbolizer symbolizer({module("demo")});
  EXPECT_EQ(symbolizer.describe(work + kBias + 1).substr(0, 16), "work+0x1 (demo.c");
}

TEST_F(SymbolizerTest, SeparateDebugFileNextToTheProgram) {
  for (const char* flags : {"-g -O0", "-g -O0 -Wl,--build-id=none"}) {
    SCOPED_TRACE(flags);
    build(flags);
    const std::uint64_t work = functions("demo").at("work");
    directory_.run(
        "objcopy --only-keep-debug demo demo.debug && strip demo && "
        "objcopy --remove-section=.gnu_debuglink --add-gnu-debuglink=demo.debug demo");
    const trace::Module demo = module("demo");
    EXPECT_EQ(Symbolizer({demo}).describe(work + kBias), "work (demo.c:5)");
    directory_.run("echo >> demo.debug");
    // A debug file whose checksum is wrong is somebody else's, unless its build-id says otherwise.
    const bool has_build_id = !demo.build_id.empty();
    EXPECT_EQ(Symbolizer({demo}).describe(work + kBias),
              has_build_id ? "work (demo.c:5)" : fmt::format("demo+{:#x}", work));
  }
}

TEST_F(SymbolizerTest, DebugFileByBuildId) {
  build("-g -O1 -Wl,--build-id=0x0123456789abcdef");
  directory_.run("mkdir -p root/.build-id/01 && objcopy --only-keep-debug demo root/.build-id/01/23456789abcdef.debug");
  const DebugFile found = find_debug_file(directory_.file("demo"), "0123456789abcdef", "", 0, directory_.file("root"));
  EXPECT_GE(found.fd, 0);
  EXPECT_EQ(found.path, directory_.file("root/.build-id/01/23456789abcdef.debug"));
  close(found.fd);
  directory_.run("cp root/.build-id/01/23456789abcdef.debug root/.build-id/01/23456789abcdee.debug");
  EXPECT_EQ(find_debug_file(directory_.file("demo"), "0123456789abcdee", "", 0, directory_.file("root")).fd, -1);
}

TEST(DebugDirectory, IsToldByTheEnvironment) {
  ::unsetenv("LOOPFOLD_DEBUG_DIRECTORY");
  EXPECT_EQ(debug_directory(), "/usr/lib/debug");
  ::setenv("LOOPFOLD_DEBUG_DIRECTORY", "/opt/debug", 1);
  EXPECT_EQ(debug_directory(), "/opt/debug");
  ::setenv("LOOPFOLD_DEBUG_DIRECTORY", "", 1);
  EXPECT_FALSE(std::filesystem::exists(debug_directory()));
  ::unsetenv("LOOPFOLD_DEBUG_DIRECTORY");
}

TEST_F(SymbolizerTest, CxxNamesAreDemangled) {
  directory_.write("demo.cc",
                   "namespace geo { struct Box { int area(int w) const; };\n"
                   "int Box::area(int w) const { return w * w; } }\n"
                   "int main(int n, char**) { return geo::Box().area(n); }\n");
  directory_.run("g++ -g -O0 demo.cc -o demo");
  Symbolizer symbolizer({module("demo")});
  const std::uint64_t area = functions("demo").at("_ZNK3geo3Box4areaEi");
  EXPECT_EQ(symbolizer.describe(area + kBias), "geo::Box::area(int) const (demo.cc:2)");
}

TEST_F(SymbolizerTest, FileThatIsGone) {
  trace::Module gone;
  gone.path = directory_.file("nowhere/prog");
  gone.build_id = "00";
  gone.start = 0x401000;
  gone.size = 0x1000;
  gone.load_bias = 0x400000;
  Symbolizer symbolizer({gone});
  EXPECT_TRUE(symbolizer.warnings().empty()) << "nothing was asked about it yet";
  EXPECT_EQ(symbolizer.describe(0x401234), "prog+0x1234");
  EXPECT_EQ(symbolizer.describe(0x401238), "prog+0x1238");
  ASSERT_EQ(symbolizer.warnings().size(), 1u);
  EXPECT_EQ(symbolizer.warnings()[0], gone.path + ": is gone; its functions and lines are not known");
  EXPECT_EQ(symbolizer.describe(0x402000), "0x402000");
  EXPECT_EQ(symbolizer.describe(0x10), "0x10");
}

TEST_F(SymbolizerTest, FileThatHasChanged) {
  build("-g -O1");
  trace::Module demo = module("demo");
  const std::uint64_t work = functions("demo").at("work");
  demo.build_id = "0123456789abcdef";
  Symbolizer symbolizer({demo});
  EXPECT_EQ(symbolizer.describe(work + kBias), fmt::format("demo+{:#x}", work));
  ASSERT_EQ(symbolizer.warnings().size(), 1u);
  EXPECT_NE(symbolizer.warnings()[0].find("another build-id"), std::string::npos);
}

TEST_F(SymbolizerTest, NotAnElfFileAndNotAFile) {
  trace::Module text;
  text.path = directory_.write("text", "hello");
  text.start = 0x1000;
  text.size = 0x1000;
  trace::Module folder;
  folder.path = directory_.file("");
  folder.start = 0x3000;
  folder.size = 0x1000;
  trace::Module vdso;
  vdso.path = "[vdso]";
  vdso.start = 0x5000;
  vdso.size = 0x1000;
  vdso.load_bias = 0x5000;
  Symbolizer symbolizer({text, folder, vdso});
  EXPECT_EQ(symbolizer.describe(0x1010), "text+0x1010");
  EXPECT_EQ(symbolizer.warnings().size(), 1u);
  symbolizer.describe(0x3010);
  EXPECT_EQ(symbolizer.warnings().size(), 2u);
  EXPECT_EQ(symbolizer.describe(0x5010), "[vdso]+0x10");
  EXPECT_EQ(symbolizer.warnings().size(), 2u);
}

/// A module's file is opened only when an address in it is asked for; a moved symbolizer goes on.
TEST_F(SymbolizerTest, SeveralModules) {
  build("-g -O0");
  trace::Module other;
  other.path = directory_.file("libother.so");
  other.start = 0x7f0000000000;
  other.size = 0x100000;
  Symbolizer first({module("demo"), other});
  Symbolizer symbolizer(std::move(first));
  EXPECT_EQ(symbolizer.describe(functions("demo").at("main") + kBias), "main (demo.c:11)");
  EXPECT_TRUE(symbolizer.warnings().empty());
  EXPECT_EQ(symbolizer.describe(0x7f0000000004), "libother.so+0x7f0000000004");
  EXPECT_EQ(symbolizer.warnings().size(), 1u);
}

}  // namespace
}  // namespace loopfold::symbols
