// Damaged debug information gives other answers or none, never a crash and never an endless loop. Run by the sanitized
// tests as well.
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <random>
#include <string_view>

#include "symbols/compile_for_test.h"
#include "symbols/loop_source.h"
#include "symbols/symbolizer.h"

namespace loopfold::symbols {
namespace {

constexpr const char* kSource = R"(volatile int sink;
struct item { int key; struct item* next; };
double grid[4][5]; const struct item heads[3]; int (*hook)(double, int* const*, ...);
static inline int square(int x) { return x * x; }
static inline int total(const int* a, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += square(a[i]);
  return sum;
}
__attribute__((noinline)) int work(int* a, int n) {
  static struct { enum { kOff, kOn } mode; union { long l; char text[8]; } value[2]; } state;
  state.mode = n > 2;
  while (n > 2) {
    sink = total(a, n);
    n -= total(a + 1, n - 1) % 3 + 1;
  }
  return n;
}
int main(int argc, char** argv) {
  int a[4] = {argc, 2, 3, argv[0][0]};
  return work(a, argc);
}
)";

struct Part {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// Where the sections are whose names start with one of the prefixes.
std::vector<Part> parts_of(const std::string& path, const std::vector<std::string_view>& prefixes) {
  elf_version(EV_CURRENT);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  Elf* elf = elf_begin(fd, ELF_C_READ, nullptr);
  std::size_t names = 0;
  EXPECT_EQ(elf_getshdrstrndx(elf, &names), 0);
  std::vector<Part> parts;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    gelf_getshdr(section, &header);
    const std::string_view name = elf_strptr(elf, names, header.sh_name);
    for (const std::string_view prefix : prefixes) {
      if (name.starts_with(prefix) && header.sh_type != SHT_NOBITS && header.sh_size != 0) {
        parts.push_back({header.sh_offset, header.sh_size});
      }
    }
  }
  elf_end(elf);
  close(fd);
  return parts;
}

void ask_everything(const trace::Module& module) {
  Symbolizer symbolizer({module});
  LoopAddresses loop;
  for (std::uint64_t at = module.start; at < module.start + module.size; at += 3) {
    symbolizer.describe(at);
    symbolizer.is_function_start(at);
    symbolizer.function_of(at);
    symbolizer.in_plt(at);
    loop.header = at;
    loop.latch_branches = {at + 6};
    loop.exit_branches = {at + 9};
    loop.instructions = {at, at + 3};
    name_loop(symbolizer, loop);
  }
  for (std::uint64_t at = module.load_bias; at < module.start + module.size + 0x4000; at += 7) symbolizer.data(at);
}

class DamageTest : public testing::Test {
 protected:
  void damage(const std::string& flags, const std::vector<std::string_view>& prefixes, int rounds) {
    SCOPED_TRACE(flags);
    directory_.write("demo.c", kSource);
    directory_.run("gcc -g -nostartfiles -Wl,-e,main -Wl,--build-id=none " + flags + " demo.c -o demo");
    const trace::Module demo = directory_.module("demo", 0x10000);
    const std::vector<Part> parts = parts_of(demo.path, prefixes);
    ASSERT_FALSE(parts.empty());
    const std::string good = read_whole(demo.path);
    for (int seed = 0; seed < rounds; ++seed) {
      std::mt19937 random(static_cast<unsigned>(seed));
      const Part part = parts[random() % parts.size()];
      std::string bytes = good;
      for (unsigned i = random() % 8 + 1; i > 0; --i) {
        char& byte = bytes[part.offset + random() % part.size];
        switch (random() % 4) {
          case 0:
            byte = static_cast<char>(random());
            break;
          case 1:
            byte = '\xff';
            break;
          case 2:
            byte = '\0';
            break;
          default:
            byte = static_cast<char>(byte ^ (1 << random() % 8));
        }
      }
      directory_.write("demo", bytes);
      ask_everything(demo);
    }
  }

  TemporaryDirectory directory_;
};

TEST_F(DamageTest, InfoAndLines) {
  damage("-O2 -gdwarf-5", {".debug_info", ".debug_line", ".debug_abbrev"}, 300);
  damage("-O2 -gdwarf-4", {".debug_info", ".debug_line", ".debug_abbrev"}, 300);
}

TEST_F(DamageTest, RangesAndStrings) {
  damage("-O2 -gdwarf-5", {".debug_rnglists", ".debug_str", ".debug_line_str", ".debug_aranges"}, 150);
  damage("-O2 -gdwarf-4", {".debug_ranges", ".debug_str", ".debug_aranges"}, 100);
}

TEST_F(DamageTest, CompressedSections) { damage("-O2 -gz", {".debug_"}, 150); }

TEST_F(DamageTest, SymbolsAndUnwindTable) {
  damage("-O2", {".symtab", ".strtab", ".dynsym", ".dynstr", ".eh_frame", ".rela", ".shstrtab"}, 300);
}

TEST_F(DamageTest, TruncatedFiles) {
  directory_.write("demo.c", kSource);
  directory_.run("gcc -g -O2 -nostartfiles -Wl,-e,main -Wl,--build-id=none demo.c -o demo");
  const trace::Module demo = directory_.module("demo", 0x10000);
  const std::string good = read_whole(demo.path);
  for (std::size_t size = 0; size < good.size(); size += 173) {
    directory_.write("demo", good.substr(0, size));
    ask_everything(demo);
  }
}

}  // namespace
}  // namespace loopfold::symbols
