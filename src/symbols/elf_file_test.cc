#include "symbols/elf_file.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>

#include "symbols/compile_for_test.h"

namespace loopfold::symbols {
namespace {

constexpr const char* kProgram = "#include <math.h>\nint main(int c, char** v) { (void)v; return (int)cos(c); }\n";

ElfFile inspect(const std::string& path) {
  const Result<ElfFile> file = inspect_elf(path);
  EXPECT_TRUE(file.has_value()) << path;
  return file.value_or(ElfFile{});
}

class ElfFileTest : public testing::Test {
 protected:
  void SetUp() override { directory_.write("p.c", kProgram); }
  ElfFile build(const std::string& flags) {
    directory_.run("gcc " + flags + " p.c -o p -lm");
    return inspect(directory_.file("p"));
  }
  TemporaryDirectory directory_;
};

TEST_F(ElfFileTest, PositionIndependentProgram) {
  const ElfFile file = build("-g -pie -fPIE -Wl,--build-id=0xdeadBEEF01020304");
  EXPECT_TRUE(file.is_elf);
  EXPECT_EQ(file.damage, "");
  EXPECT_TRUE(file.is_64bit);
  EXPECT_TRUE(file.is_x86_64());
  EXPECT_EQ(file.type, ElfFile::Type::kShared);
  EXPECT_TRUE(file.has_interpreter());
  EXPECT_EQ(file.interpreter, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_EQ(file.build_id, "deadbeef01020304");
  EXPECT_EQ(file.lowest_address(), 0u);
  EXPECT_NE(file.entry, 0u);
  EXPECT_TRUE(file.has_symtab);
  EXPECT_TRUE(file.has_debug_info);
  EXPECT_FALSE(file.split_dwarf);
  EXPECT_NE(std::find(file.needed.begin(), file.needed.end(), "libc.so.6"), file.needed.end());
  EXPECT_NE(std::find(file.needed.begin(), file.needed.end(), "libm.so.6"), file.needed.end());
}

TEST_F(ElfFileTest, StaticProgramAtAFixedAddress) {
  const ElfFile file = build("-static -no-pie -Wl,--build-id=none");
  EXPECT_EQ(file.type, ElfFile::Type::kExecutable);
  EXPECT_FALSE(file.has_interpreter());
  EXPECT_EQ(file.build_id, "");
  EXPECT_EQ(file.lowest_address(), 0x400000u);
  EXPECT_TRUE(file.needed.empty());
  EXPECT_FALSE(file.has_debug_info);
  // Every segment at its own address has bias 0.
  for (const ElfFile::Segment& segment : file.segments) {
    const std::uint64_t in_page = segment.file_offset & 4095;
    EXPECT_EQ(file.load_bias(segment.address - in_page, segment.file_offset - in_page, segment.executable), 0u);
  }
}

TEST_F(ElfFileTest, StrippedProgram) {
  const ElfFile file = build("-g -s");
  EXPECT_FALSE(file.has_symtab);
  EXPECT_FALSE(file.has_debug_info);
  EXPECT_FALSE(file.build_id.empty());
  EXPECT_FALSE(file.needed.empty());
}

TEST_F(ElfFileTest, SeparateDebugFile) {
  build("-g");
  directory_.run("objcopy --only-keep-debug p p.debug");
  const ElfFile file = inspect(directory_.file("p.debug"));
  EXPECT_EQ(file.damage, "");
  EXPECT_TRUE(file.has_debug_info);
  EXPECT_TRUE(file.has_symtab);
  EXPECT_TRUE(file.needed.empty());
  EXPECT_EQ(file.build_id, inspect(directory_.file("p")).build_id);
}

TEST_F(ElfFileTest, SplitDwarfIsFound) {
  for (const char* flags : {"-g -gdwarf-5 -gsplit-dwarf", "-g -gdwarf-4 -gsplit-dwarf",
                            "-g -gdwarf-5 -gsplit-dwarf -gz", "-g -gdwarf-4 -gsplit-dwarf -gz=zlib-gnu"}) {
    SCOPED_TRACE(flags);
    const ElfFile file = build(flags);
    EXPECT_TRUE(file.has_debug_info);
    EXPECT_TRUE(file.split_dwarf);
  }
}

TEST_F(ElfFileTest, WholeDwarfIsNotSplit) {
  for (const char* flags : {"-g -gdwarf-5", "-g -gdwarf-4", "-g -gdwarf-5 -gz", "-g -gdwarf-4 -gz=zlib-gnu",
                            "-g -gdwarf-4 -fdebug-types-section"}) {
    SCOPED_TRACE(flags);
    const ElfFile file = build(flags);
    EXPECT_TRUE(file.has_debug_info);
    EXPECT_FALSE(file.split_dwarf);
  }
}

TEST_F(ElfFileTest, OneSplitUnitAmongMany) {
  directory_.write("a.c", "int a(void) { return 1; }\n");
  directory_.run("gcc -g -gdwarf-5 -c a.c && gcc -g -gdwarf-5 -gsplit-dwarf -c p.c && gcc a.o p.o -o p -lm");
  EXPECT_TRUE(inspect(directory_.file("p")).split_dwarf);
}

TEST_F(ElfFileTest, RelocatableAndSharedLibrary) {
  directory_.run("gcc -c p.c -o p.o");
  const ElfFile object = inspect(directory_.file("p.o"));
  EXPECT_EQ(object.type, ElfFile::Type::kRelocatable);
  EXPECT_EQ(object.lowest_address(), std::nullopt);
  EXPECT_EQ(object.load_bias(0x1000, 0), std::nullopt);
  directory_.run("gcc -shared -fPIC p.c -o p.so -lm");
  const ElfFile library = inspect(directory_.file("p.so"));
  EXPECT_EQ(library.type, ElfFile::Type::kShared);
  EXPECT_FALSE(library.has_interpreter());
}

/// A dynamic section without section headers is found by the program headers.
TEST_F(ElfFileTest, NoSectionHeaders) {
  const ElfFile whole = build("");
  std::string bytes = read_whole(directory_.file("p"));
  Elf64_Ehdr header;
  std::copy_n(bytes.data(), sizeof header, reinterpret_cast<char*>(&header));
  header.e_shoff = 0;
  header.e_shnum = 0;
  header.e_shstrndx = 0;
  std::copy_n(reinterpret_cast<const char*>(&header), sizeof header, bytes.data());
  const ElfFile file = inspect(directory_.write("bare", bytes));
  EXPECT_EQ(file.needed, whole.needed);
  EXPECT_EQ(file.build_id, whole.build_id);
  EXPECT_EQ(file.interpreter, whole.interpreter);
  EXPECT_EQ(file.segments, whole.segments);
  EXPECT_FALSE(file.has_symtab);
}

/// What the dynamic linker says about this process is the truth about load biases.
TEST(LoadBias, AgreesWithTheDynamicLinker) {
  struct Loaded {
    std::string path;
    std::uint64_t bias = 0;
  };
  std::vector<Loaded> all;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        if (info->dlpi_name[0] == '/') {
          static_cast<std::vector<Loaded>*>(out)->push_back({info->dlpi_name, info->dlpi_addr});
        }
        return 0;
      },
      &all);
  ASSERT_FALSE(all.empty());
  std::ifstream maps("/proc/self/maps");
  std::string line;
  int checked = 0;
  while (std::getline(maps, line)) {
    unsigned long start = 0;
    unsigned long end = 0;
    unsigned long offset = 0;
    char flags[5] = {};
    char path[512] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %*s %511s", &start, &end, flags, &offset, path) != 5) continue;
    if (flags[2] != 'x') continue;
    for (const Loaded& loaded : all) {
      if (std::filesystem::path(loaded.path).filename() != std::filesystem::path(path).filename()) continue;
      const Result<ElfFile> file = inspect_elf(path);
      ASSERT_TRUE(file.has_value());
      EXPECT_EQ(file->load_bias(start, offset), loaded.bias) << path;
      ++checked;
    }
  }
  EXPECT_GT(checked, 0);
}

TEST(LoadBias, SegmentsThatShareAPageOfTheFile) {
  ElfFile file;
  file.segments = {{0, 0, 0x1234, 0x1234, false}, {0x1234, 0x2234, 0x1000, 0x1000, true}};
  EXPECT_EQ(file.load_bias(0x7f0000002000, 0x1000, true), 0x7f0000000000u);
  EXPECT_EQ(file.load_bias(0x7f0000001000, 0x1000, false), 0x7f0000000000u);
  EXPECT_EQ(file.load_bias(0x7f0000003000, 0x2000, true), 0x7f0000000000u);
  EXPECT_EQ(file.load_bias(0x7f0000003000, 0x5000, true), std::nullopt);
}

TEST(InspectElf, MissingDirectoryAndPipe) {
  const Result<ElfFile> missing = inspect_elf("/nonexistent/file");
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().message.find("/nonexistent/file: No such file"), std::string::npos);
  const TemporaryDirectory directory;
  EXPECT_FALSE(inspect_elf(directory.file("")).has_value());
  ASSERT_EQ(mkfifo(directory.file("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(inspect_elf(directory.file("pipe")).has_value());
}

TEST(InspectElf, NotElf) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(inspect(directory.write("empty", "")).is_elf);
  EXPECT_FALSE(inspect(directory.write("short", "\177EL")).is_elf);
  EXPECT_FALSE(inspect(directory.write("script", "#!/bin/sh\necho\n")).is_elf);
  const ElfFile magic = inspect(directory.write("magic", "\177ELF"));
  EXPECT_TRUE(magic.is_elf);
  EXPECT_NE(magic.damage, "");
}

/// Every prefix and many random corruptions of a valid file are answered without a crash.
TEST_F(ElfFileTest, DamagedFiles) {
  build("-g -nostartfiles -Wl,-e,main");
  const std::string good = read_whole(directory_.file("p"));
  for (std::size_t size = 0; size < good.size(); size += size < 1500 ? 7 : 211) {
    const ElfFile file = inspect(directory_.write("cut", good.substr(0, size)));
    if (size >= 4 && size < 64) {
      EXPECT_NE(file.damage, "") << size;
    }
  }
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = good;
    const std::size_t region = round % 3 == 0 ? 64 : round % 3 == 1 ? 1024 : bytes.size();
    for (unsigned i = 0, n = 1 + random() % 8; i < n; ++i) {
      bytes[random() % region] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    inspect(directory_.write("bad", bytes));
  }
  for (int round = 0; round < 200; ++round) {
    std::string bytes = good.substr(0, 6 + random() % 60);
    while (bytes.size() < 4096) bytes.push_back(static_cast<char>(random()));
    inspect(directory_.write("random", bytes));
  }
}

}  // namespace
}  // namespace loopfold::symbols
