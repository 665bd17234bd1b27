// The table on made-up symbols, and the Symbolizer's answers for small programs of several compilers and languages.
#include "symbols/data_symbols.h"

#include <fmt/core.h>

#include <random>

#include "symbols/compile_for_test.h"
#include "symbols/interval_index.h"
#include "symbols/symbolizer.h"

namespace loopfold::symbols {
namespace {

constexpr std::uint64_t kBias = 0x555500000000;

std::string name_at(const DataTable& table, std::uint64_t address) {
  const DataTable::Piece* piece = table.find(address);
  if (piece == nullptr) return "nothing";
  if (piece->variable == DataTable::kNone) return table.section(piece->section).name;
  const DataTable::Variable& variable = table.variable(piece->variable);
  return variable.debug != DataTable::kNone ? fmt::format("debug {}", variable.debug) : std::string(variable.name);
}

TEST(DataTable, CutsSegmentsIntoVariablesAndSections) {
  const DataTable table({{"data segment", 100, 100}}, {{".data", 110, 30}, {".bss", 140, 50}},
                        {{112, 8, "a", 2}, {130, 4, "b", 0}, {150, 0, "_end", 2}}, {});
  EXPECT_EQ(name_at(table, 99), "nothing");
  EXPECT_EQ(name_at(table, 100), "data segment");
  EXPECT_EQ(name_at(table, 110), ".data");
  EXPECT_EQ(name_at(table, 112), "a");
  EXPECT_EQ(name_at(table, 119), "a");
  EXPECT_EQ(name_at(table, 120), ".data");
  EXPECT_EQ(name_at(table, 133), "b");
  EXPECT_EQ(name_at(table, 150), ".bss");
  EXPECT_EQ(name_at(table, 195), "data segment");
  EXPECT_EQ(name_at(table, 200), "nothing");
  const DataTable::Piece* piece = table.find(125);
  EXPECT_EQ(piece->start, 120U);
  EXPECT_EQ(piece->last, 129U);
}

TEST(DataTable, OfSeveralNamesTheBestIsChosen) {
  const DataTable table({{"s", 0, 1000}}, {},
                        {{10, 8, "_environ", 1},
                         {10, 8, "__environ", 2},
                         {10, 8, "environ", 1},
                         {50, 4, "local", 0},
                         {50, 8, "weak", 1},
                         {80, 8, "symbol", 2}},
                        {{80, 4, 1, 0, false}});
  EXPECT_EQ(name_at(table, 10), "__environ");
  EXPECT_EQ(name_at(table, 57), "weak");
  EXPECT_EQ(name_at(table, 80), "debug 0");
  EXPECT_EQ(name_at(table, 87), "debug 0") << "the symbol knows the size";
}

TEST(DataTable, PartsOfCommonBlocksLieInside) {
  const DataTable table({{"s", 0, 1000}}, {}, {{100, 100, "blk_", 2}},
                        {{100, 8, 1, 0, true}, {120, 8, 2, 0, true}, {100, 100, 3, 0, false}});
  EXPECT_EQ(name_at(table, 104), "debug 0");
  EXPECT_EQ(name_at(table, 108), "debug 2");
  EXPECT_EQ(name_at(table, 127), "debug 1");
  EXPECT_EQ(name_at(table, 199), "debug 2");
}

TEST(DataTable, AgreesWithLookingAtEveryInterval) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<FileRange> segments = {{"s0", 50, 300}, {"s1", 500, 200}};
    std::vector<FileRange> sections = {{".a", 60, random() % 200}, {".b", 300, 250}};
    std::vector<std::string> names;
    for (int i = 0; i < 20; ++i) names.push_back(fmt::format("v{}", i));
    std::vector<ElfData> symbols;
    for (const std::string& name : names) symbols.push_back({random() % 700, random() % 60, name, 2});
    IntervalIndex<std::string> variables;
    for (const ElfData& symbol : symbols) {
      ElfData best = symbol;
      for (const ElfData& other : symbols) {
        if (other.address != symbol.address || other.size == 0) continue;
        best.size = std::max(best.size, other.size);
        if (std::pair(other.name.size(), other.name) < std::pair(best.name.size(), best.name) || best.size == 0) {
          best.name = other.name;
        }
      }
      if (symbol.size != 0) variables.add(best.address, best.address + best.size, std::string(best.name));
    }
    variables.build();
    const DataTable table(segments, sections, symbols, {});
    for (std::uint64_t address = 0; address < 800; ++address) {
      std::string expected = "nothing";
      for (const FileRange& segment : segments) {
        if (address >= segment.address && address - segment.address < segment.size) expected = segment.name;
      }
      if (expected != "nothing") {
        for (const FileRange& section : sections) {
          if (address >= section.address && address - section.address < section.size) expected = section.name;
        }
        if (const auto* variable = variables.find(address)) expected = variable->value;
      }
      ASSERT_EQ(name_at(table, address), expected) << "round " << round << " address " << address;
      const DataTable::Piece* piece = table.find(address);
      if (piece == nullptr) continue;
      ASSERT_LE(piece->start, address);
      ASSERT_GE(piece->last, address);
    }
  }
}

// ---- Programs ------------------------------------------------------------------------------------------------------

/// A compiled program whose data can be asked for by the name of the symbol table.
class Program {
 public:
  Program(const std::string& file_name, const std::string& source, const std::string& command,
          const std::string& after = "true") {
    directory_.write(file_name, source);
    directory_.run(command + " " + file_name + " -o prog");
    std::istringstream lines(directory_.output_of("nm prog"));
    std::string line;
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::string address;
      std::string kind;
      std::string name;
      if (words >> address >> kind >> name && address.size() == 16) {
        addresses_[name.substr(0, name.find('@'))] = std::stoull(address, nullptr, 16);
      }
    }
    directory_.run(after);
    const trace::Module module = directory_.module("prog", kBias);
    bias_ = module.load_bias;
    symbolizer_ = std::make_unique<Symbolizer>(std::vector<trace::Module>{module});
  }

  std::uint64_t address(const std::string& symbol) const {
    // "counter." is the first one of that beginning: compilers number copies.
    const auto found = symbol.ends_with(".") ? addresses_.lower_bound(symbol) : addresses_.find(symbol);
    EXPECT_NE(found, addresses_.end()) << symbol;
    return found != addresses_.end() ? found->second + bias_ : 0;
  }
  DataPlace place(const std::string& symbol, std::uint64_t offset = 0) {
    return symbolizer_->data_place(address(symbol) + offset);
  }
  /// "name: type, size at line in section".
  std::string text(const std::string& symbol, std::uint64_t offset = 0) {
    const DataSymbol* found = place(symbol, offset).symbol;
    if (found == nullptr) return "nothing";
    return fmt::format("{}: {}, {} at {} in {}", found->name, found->type, found->size, found->line, found->section);
  }
  std::string type(const std::string& symbol) {
    const DataSymbol* found = place(symbol).symbol;
    return found != nullptr ? found->type : "nothing";
  }
  Symbolizer& symbolizer() { return *symbolizer_; }

 private:
  TemporaryDirectory directory_;
  std::map<std::string, std::uint64_t> addresses_;
  std::uint64_t bias_ = 0;
  std::unique_ptr<Symbolizer> symbolizer_;
};

constexpr const char* kC = R"(#include <stdio.h>
struct point { int x, y; };
typedef double real;
double conn[300][120];
static const int table[4] = {1, 2, 3, 4};
struct point origin = {3, 4}, *where = &origin;
real weights[7];
const char *const names[] = {"a", "b"};
double (*row)[120] = conn;
int (*callback)(double, struct point *, ...);
union { int i; float f; } either;
enum colour { RED } shade;
struct { char tag; int tail[]; } flexible = {1, {2, 3, 4}};
_Thread_local int per_thread = 5;
void *anything; char bytes[200], page[256]; short sheet[200][40000];
int step(void) {
  static int counter;
  static int other[3] = {1, 2, 3};
  return ++counter + other[counter % 3];
}
int main(int argc, char **argv) {
  fprintf(stdout, "%d %d %p\n", table[argc & 3], step(), (void *)names[argc & 1]);
  anything = argv;
  return per_thread;
}
)";

class CPrograms : public testing::TestWithParam<const char*> {};

TEST_P(CPrograms, HaveNamedVariables) {
  const std::string compiler = GetParam();
  if (!is_installed(compiler.substr(0, compiler.find(' ')))) GTEST_SKIP();
  Program program("a.c", kC, compiler + " -w -g -O0");
  EXPECT_EQ(program.text("conn"), "conn: double[300][120], 288000 at 4 in .bss");
  EXPECT_EQ(program.text("conn", 287999), "conn: double[300][120], 288000 at 4 in .bss");
  EXPECT_EQ(program.text("table", 15), "table: int[4], 16 at 5 in .rodata");
  EXPECT_EQ(program.text("origin", 4), "origin: struct point, 8 at 6 in .data");
  EXPECT_EQ(program.type("where"), "struct point*");
  EXPECT_EQ(program.type("weights"), "real[7]");
  EXPECT_EQ(program.type("names"), "char*[2]");
  EXPECT_EQ(program.type("bytes"), "char[200]");
  EXPECT_EQ(program.type("page"), "char[256]");
  EXPECT_TRUE(program.type("sheet").ends_with("[200][40000]")) << program.type("sheet");
  EXPECT_EQ(program.type("row"), "double(*)[120]");
  EXPECT_EQ(program.type("callback"), "int(*)(double, struct point*, ...)");
  EXPECT_EQ(program.type("either"), "union");
  EXPECT_EQ(program.type("shade"), "enum colour");
  EXPECT_EQ(program.type("anything"), "void*");
  EXPECT_EQ(program.place("conn").symbol->start, program.address("conn"));
  EXPECT_EQ(program.place("conn").symbol->module, "prog");
  EXPECT_TRUE(program.place("conn").symbol->file.ends_with("/a.c")) << program.place("conn").symbol->file;
  const DataSymbol* flexible = program.place("flexible", 12).symbol;
  ASSERT_NE(flexible, nullptr);
  EXPECT_EQ(flexible->name, "flexible");
  EXPECT_EQ(flexible->size, 16U);
  EXPECT_EQ(program.symbolizer().data(kBias - 10), nullptr);
}

TEST_P(CPrograms, HaveStaticVariablesOfFunctions) {
  const std::string compiler = GetParam();
  if (!is_installed(compiler.substr(0, compiler.find(' ')))) GTEST_SKIP();
  Program program("a.c", kC, compiler + " -w -g -O2");
  const DataSymbol* counter = program.place(compiler.starts_with("clang") ? "step.counter" : "counter.").symbol;
  ASSERT_NE(counter, nullptr);
  EXPECT_EQ(counter->name, "step::counter");
  EXPECT_EQ(counter->type, "int");
  EXPECT_EQ(counter->line, 17);
}

TEST(DataSymbols, HaveSectionsAroundThem) {
  Program program("a.c", kC, "gcc -w -g -O0");
  const DataPlace got = program.place("_GLOBAL_OFFSET_TABLE_");
  EXPECT_EQ(got.symbol, nullptr);
  ASSERT_NE(got.section, nullptr);
  EXPECT_TRUE(got.section->name.starts_with(".got")) << got.section->name;
  EXPECT_EQ(got.section->module, "prog");
  const DataPlace code = program.place("main");
  EXPECT_EQ(code.symbol, nullptr);
  ASSERT_NE(code.section, nullptr);
  EXPECT_EQ(code.section->name, ".text");
  const DataPlace outside = program.symbolizer().data_place(7);
  EXPECT_EQ(outside.section, nullptr);
  EXPECT_EQ(outside.start, 0U);
  EXPECT_GT(outside.last, 7U);
}

INSTANTIATE_TEST_SUITE_P(Compilers, CPrograms,
                         testing::Values("gcc", "gcc -no-pie", "gcc -gdwarf-4", "clang -gdwarf-5", "clang -gdwarf-4",
                                         "gcc -gz"));

TEST(DataSymbols, WithoutDebugInformationAreThoseOfTheSymbolTable) {
  Program program("a.c", kC, "gcc -w -O0");
  EXPECT_EQ(program.text("conn"), "conn: , 288000 at 0 in .bss");
  EXPECT_EQ(program.text("table"), "table: , 16 at 0 in .rodata");
  EXPECT_TRUE(program.text("stdout").starts_with("stdout: , 8 at 0 in .bss")) << "a copy relocation";
}

TEST(DataSymbols, OfAStrippedProgramAreSections) {
  Program program("a.c", kC, "gcc -w -O0", "strip prog");
  const DataPlace place = program.place("conn", 16);
  EXPECT_EQ(place.symbol, nullptr);
  ASSERT_NE(place.section, nullptr);
  EXPECT_EQ(place.section->name, ".bss");
  EXPECT_LE(place.section->start, program.address("conn"));
  EXPECT_GT(place.section->start + place.section->size, program.address("conn") + 287999);
  EXPECT_TRUE(program.text("stdout").starts_with("stdout: ")) << "from .dynsym";
}

TEST(DataSymbols, WithoutSectionsAreSegments) {
  if (!is_installed("llvm-strip")) GTEST_SKIP();
  Program program("a.c", kC, "gcc -w -O0 -no-pie", "llvm-strip --strip-sections prog");
  const DataPlace place = program.place("conn", 16);
  ASSERT_NE(place.section, nullptr);
  EXPECT_EQ(place.section->name, "data segment");
}

TEST(DataSymbols, OfASeparateDebugFileAreFound) {
  Program program(
      "a.c", kC, "gcc -w -g -O0",
      "objcopy --only-keep-debug prog prog.debug && strip prog && objcopy --add-gnu-debuglink=prog.debug prog");
  EXPECT_EQ(program.text("conn", 8), "conn: double[300][120], 288000 at 4 in .bss");
}

constexpr const char* kCpp = R"(#include <string>
#include <vector>
namespace deep { inline namespace v1 {

struct Grid { static double cells[10]; std::vector<double> rows; }; double Grid::cells[10];
Grid grid;
enum class Mode { kOn };
Mode mode;
} }
namespace { int hidden; }
std::string text;
std::vector<int> numbers;
int& alias = hidden;
template <typename T> T shared;
template int shared<int>;
inline int step() { static int counter = 3; return ++counter + hidden; }
int main() { return step() + static_cast<int>(deep::grid.rows.size()) + shared<int> + alias; }
)";

class CppPrograms : public testing::TestWithParam<const char*> {};

TEST_P(CppPrograms, HaveReadableNamesAndTypes) {
  const std::string compiler = GetParam();
  if (!is_installed(compiler.substr(0, compiler.find(' ')))) GTEST_SKIP();
  Program program("a.cc", kCpp, compiler + " -std=c++17 -g -O0");
  EXPECT_EQ(program.text("_ZN4deep2v14Grid5cellsE"), "deep::v1::Grid::cells: double[10], 80 at 5 in .bss");
  EXPECT_EQ(program.text("_ZN4deep2v14gridE"), "deep::v1::grid: deep::Grid, 24 at 6 in .bss");
  EXPECT_EQ(program.type("_ZN4deep2v14modeE"), "deep::Mode");
  EXPECT_EQ(program.text("_ZN12_GLOBAL__N_16hiddenE"), "(anonymous namespace)::hidden: int, 4 at 10 in .bss");
  EXPECT_EQ(program.type("_Z4textB5cxx11"), "std::string");
  EXPECT_TRUE(program.type("numbers").starts_with("std::vector<int, std::allocator<int>")) << program.type("numbers");
  EXPECT_EQ(program.type("alias"), "int&");
  EXPECT_EQ(program.text("_ZZ4stepvE7counter"), "step()::counter: int, 4 at 16 in .data");
  EXPECT_TRUE(program.text("_Z6sharedIiE").starts_with("shared<int>: int, 4 at 14 in .bss"))
      << program.text("_Z6sharedIiE");
}

INSTANTIATE_TEST_SUITE_P(Compilers, CppPrograms, testing::Values("g++", "clang++ -gdwarf-5", "clang++ -gdwarf-4"));

TEST(DataSymbols, OfFortran) {
  if (!is_installed("gfortran")) GTEST_SKIP();
  Program program("a.f90", R"(module field
  real(8) :: u(300,120), low(0:9)
end module
program main
  use field
  integer :: n, m(4)
  common /shared/ n, m
  real(4), save :: scratch(50)
  n = 3; m = n; u = 1.0d0; low = 2.0d0; scratch = 1.0
  print *, sum(u) + sum(low) + n + sum(m) + sum(scratch)
end program
)",
                  "gfortran -g -O0");
  EXPECT_EQ(program.text("__field_MOD_u"), "field::u: real(kind=8)(300,120), 288000 at 2 in .bss");
  EXPECT_EQ(program.type("__field_MOD_low"), "real(kind=8)(0:9)");
  EXPECT_TRUE(program.text("shared_").starts_with("n: integer(kind=4), 4 at 6")) << program.text("shared_");
  EXPECT_TRUE(program.text("shared_", 4).starts_with("m: integer(kind=4)(4), 16 at 6")) << program.text("shared_", 4);
  EXPECT_TRUE(program.text("scratch.").starts_with("MAIN__::scratch: real(kind=4)(50), 200 at 8"))
      << program.text("scratch.");
}

TEST(DataSymbols, OfRust) {
  if (!is_installed("rustc")) GTEST_SKIP();
  Program program("a.rs", R"(
#[no_mangle]
pub static mut GRID: [[f64; 30]; 12] = [[1.0; 30]; 12];
#[no_mangle]
pub static mut LIMIT: usize = 3;
fn main() { unsafe { LIMIT += 1; GRID[LIMIT][2] = 4.0; println!("{}", GRID[LIMIT][2]); } }
)",
                  "rustc -g");
  const DataSymbol* grid = program.place("GRID", 2879).symbol;
  ASSERT_NE(grid, nullptr);
  EXPECT_EQ(grid->type, "[[f64; 30]; 12]");
  EXPECT_EQ(grid->line, 3);
  EXPECT_TRUE(grid->name.ends_with("GRID")) << grid->name;
  EXPECT_EQ(program.type("LIMIT"), "usize");
}

TEST(DataSymbols, LaterModulesHideEarlierOnes) {
  TemporaryDirectory directory;
  directory.write("a.c", "int first[1000]; int main(void) { return first[3]; }");
  directory.write("b.c", "int second[1000]; int main(void) { return second[3]; }");
  directory.run("gcc -g a.c -o a && gcc -g b.c -o b");
  Symbolizer symbolizer({directory.module("a", kBias), directory.module("b", kBias)});
  Symbolizer other({directory.module("b", kBias), directory.module("a", kBias)});
  Symbolizer apart({directory.module("a", kBias), directory.module("b", kBias + (1 << 20))});
  std::istringstream line(directory.output_of("nm a | grep first"));
  std::string address;
  line >> address;
  const std::uint64_t where = std::stoull(address, nullptr, 16) + kBias + 1000;
  ASSERT_NE(symbolizer.data(where), nullptr);
  EXPECT_EQ(symbolizer.data(where)->name, "second");
  ASSERT_NE(other.data(where), nullptr);
  EXPECT_EQ(other.data(where)->name, "first");
  ASSERT_NE(apart.data(where), nullptr);
  EXPECT_EQ(apart.data(where)->name, "first");
  ASSERT_NE(apart.data(where + (1 << 20)), nullptr);
  EXPECT_EQ(apart.data(where + (1 << 20))->name, "second");
  EXPECT_EQ(apart.data(where + (1 << 20))->start, apart.data(where)->start + (1 << 20));
}

TEST(DataSymbols, OfAFileThatIsGoneAreNone) {
  trace::Module module;
  module.path = "/nonexistent/prog";
  module.start = 0x400000;
  module.size = 0x1000;
  Symbolizer symbolizer({module});
  EXPECT_EQ(symbolizer.data_place(0x400010).section, nullptr);
  EXPECT_EQ(symbolizer.warnings().size(), 1U);
}

}  // namespace
}  // namespace loopfold::symbols
