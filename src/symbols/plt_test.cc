// Against objdump, which names stubs too. Its names for stubs of functions of the same program are not compared.
#include "symbols/plt.h"

#include <fcntl.h>
#include <unistd.h>

#include <map>

#include "symbols/compile_for_test.h"
#include "symbols/symbolizer.h"

namespace loopfold::symbols {
namespace {

constexpr const char* kSource = R"(#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
  int (*print)(const char*) = puts;
  print(argv[0]);
  puts(argv[argc - 1]);
  return atoi(argv[0]) + (int)strlen(argv[argc - 1]) + abs(argc);
}
)";

class PltTest : public testing::Test {
 protected:
  void build(const std::string& flags) {
    directory_.write("demo.c", kSource);
    directory_.run("gcc -O1 -fno-builtin " + flags + " demo.c -o demo");
  }

  Plt read() {
    elf_version(EV_CURRENT);
    const int fd = open(directory_.file("demo").c_str(), O_RDONLY | O_CLOEXEC);
    Elf* elf = elf_begin(fd, ELF_C_READ, nullptr);
    Plt plt = read_plt(elf);
    elf_end(elf);
    close(fd);
    return plt;
  }

  /// What objdump has as "<puts@plt>:", by address.
  std::map<std::uint64_t, std::string> from_objdump() {
    std::istringstream lines(
        directory_.output_of("objdump -d demo | sed -n 's/^\\([0-9a-f]*\\) <\\(.*\\)@plt>:/\\1 \\2/p'"));
    std::map<std::uint64_t, std::string> names;
    std::string address;
    std::string name;
    while (lines >> address >> name) names[std::stoull(address, nullptr, 16)] = name.substr(0, name.find('@'));
    return names;
  }

  TemporaryDirectory directory_;
};

TEST_F(PltTest, AgreesWithObjdump) {
  for (const char* flags :
       {"", "-no-pie", "-Wl,-z,now", "-fcf-protection -Wl,-z,ibtplt", "-fcf-protection -Wl,-z,now"}) {
    SCOPED_TRACE(flags);
    build(flags);
    std::map<std::uint64_t, std::string> expected = from_objdump();
    EXPECT_GE(expected.size(), 4u);
    std::map<std::uint64_t, std::string> found;
    for (const PltStub& stub : read().stubs) {
      if (stub.is_callable) found[stub.start] = stub.name;
    }
    EXPECT_EQ(found, expected);
  }
}

TEST_F(PltTest, NamesOfTheSymbolizer) {
  build("");
  const trace::Module demo = directory_.module("demo", 0x10000000);
  Symbolizer symbolizer({demo});
  for (const auto& [address, name] : from_objdump()) {
    const std::uint64_t place = address + demo.load_bias;
    EXPECT_EQ(symbolizer.locate(place).function, name + "@plt");
    EXPECT_EQ(symbolizer.locate(place + 1).offset, 1u);
    EXPECT_TRUE(symbolizer.in_plt(place));
    EXPECT_TRUE(symbolizer.in_plt(place + 5));
    EXPECT_TRUE(symbolizer.is_function_start(place));
    EXPECT_FALSE(symbolizer.is_function_start(place + 1));
    EXPECT_EQ(symbolizer.function_of(place + 1), place);
  }
  const std::uint64_t main = directory_.functions("demo").at("main") + demo.load_bias;
  EXPECT_FALSE(symbolizer.in_plt(main));
  const std::uint64_t resolver = read().sections.front().start + demo.load_bias;
  EXPECT_TRUE(symbolizer.in_plt(resolver));
  EXPECT_FALSE(symbolizer.is_function_start(resolver)) << "the way to the lazy resolver";
}

/// Static programs call functions that are chosen at run time through stubs of 8 bytes.
TEST_F(PltTest, FunctionsChosenAtRunTime) {
  build("-static -no-pie");
  const trace::Module demo = directory_.module("demo", 0);
  Symbolizer symbolizer({demo});
  bool found = false;
  for (const PltStub& stub : read().stubs) {
    EXPECT_NE(stub.resolver, 0u);
    EXPECT_TRUE(symbolizer.is_function_start(stub.start));
    found = found || symbolizer.locate(stub.start).function == "strlen@plt";
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace loopfold::symbols
