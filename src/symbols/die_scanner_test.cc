// Against a walk through the tree with libdw, from parents to children.
#include "symbols/die_scanner.h"

#include <dwarf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <tuple>

#include "symbols/compile_for_test.h"
#include "symbols/dwarf_units.h"

namespace loopfold::symbols {
namespace {

constexpr const char* kSource = R"(#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
static inline int square(int x) { static int calls; ++calls; return x * x; }
int grid[3][4];
namespace deep { struct S { static int member; }; int S::member = 3; thread_local int own; }
template <typename T> T total(const std::vector<T>& v) {
  T sum{};
  for (const T& x : v) sum += square(static_cast<int>(x));
  return sum;
}
struct Shape { virtual ~Shape() = default; virtual int area() const { return 1; } };
struct Box : Shape { int area() const override { return square(3); } };
int main(int argc, char** argv) {
  std::map<std::string, std::vector<double>> table;
  for (int i = 0; i < argc; ++i) table[argv[i]].push_back(i);
  std::vector<int> v(argc);
  std::sort(v.begin(), v.end(), [](int a, int b) { return square(a) > b; });
  Box box;
  const Shape* shape = &box;
  std::printf("%f %d %d\n", total(table[argv[0]]), total(v), shape->area());
}
)";

using Flat = std::tuple<std::uint64_t, std::int64_t, bool>;  // offset, parent's offset or -1, inlined

void walk(Dwarf_Die die, std::int64_t parent, std::vector<Flat>& result) {
  const int tag = dwarf_tag(&die);
  const bool is_inlined = tag == DW_TAG_inlined_subroutine;
  const bool has_code = dwarf_hasattr(&die, DW_AT_low_pc) != 0 || dwarf_hasattr(&die, DW_AT_ranges) != 0;
  if (has_code && (is_inlined || tag == DW_TAG_subprogram)) {
    result.emplace_back(dwarf_dieoffset(&die), is_inlined ? parent : -1, is_inlined);
    parent = static_cast<std::int64_t>(dwarf_dieoffset(&die));
  }
  Dwarf_Die child;
  if (dwarf_child(&die, &child) != 0) return;
  do {
    walk(child, parent, result);
  } while (dwarf_siblingof(&child, &child) == 0);
}

using FlatVariable = std::tuple<std::uint64_t, std::uint64_t, bool>;  // offset, function's offset or 0, in a common

void walk_variables(Dwarf_Die die, std::uint64_t function, bool in_common, std::vector<FlatVariable>& result) {
  const int tag = dwarf_tag(&die);
  Dwarf_Attribute location;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (tag == DW_TAG_variable && dwarf_attr(&die, DW_AT_location, &location) != nullptr &&
      dwarf_getlocation(&location, &operations, &count) == 0 && count > 0 &&
      (operations[0].atom == DW_OP_addr || operations[0].atom == DW_OP_addrx ||
       operations[0].atom == DW_OP_GNU_addr_index)) {
    result.emplace_back(dwarf_dieoffset(&die), function, in_common);
  }
  if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
    function = dwarf_dieoffset(&die);
    in_common = false;
  }
  if (tag == DW_TAG_common_block) in_common = true;
  Dwarf_Die child;
  if (dwarf_child(&die, &child) != 0) return;
  do {
    walk_variables(child, function, in_common, result);
  } while (dwarf_siblingof(&child, &child) == 0);
}

void compare(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  Dwarf* dwarf = dwarf_begin(fd, DWARF_C_READ);
  ASSERT_NE(dwarf, nullptr);
  Dwarf_Off next = 0;
  std::size_t header_size = 0;
  UnitHeader header;
  Dwarf_Off abbreviations = 0;
  std::size_t scopes = 0;
  std::size_t variables = 0;
  for (Dwarf_Off offset = 0; dwarf_next_unit(dwarf, offset, &next, &header_size, &header.version, &abbreviations,
                                             &header.address_size, &header.offset_size, nullptr, nullptr) == 0;
       offset = next) {
    header.offset = offset;
    header.first_die = offset + header_size;
    header.end = next;
    header.abbreviations = abbreviation_section(dwarf).subspan(abbreviations);
    Dwarf_Die die;
    ASSERT_NE(dwarf_offdie(dwarf, header.first_die, &die), nullptr);
    std::vector<Flat> expected;
    walk(die, -1, expected);
    std::vector<Flat> found;
    for (const ScannedScope& scope : scan_scopes(info_section(dwarf), header)) {
      const bool is_outermost = scope.parent == ScannedScope::kNoParent;
      found.emplace_back(
          scope.offset,
          is_outermost ? -1 : static_cast<std::int64_t>(std::get<0>(found.at(static_cast<std::size_t>(scope.parent)))),
          scope.is_inlined);
    }
    EXPECT_EQ(found, expected);
    scopes += found.size();
    std::vector<FlatVariable> expected_variables;
    walk_variables(die, 0, false, expected_variables);
    std::vector<FlatVariable> found_variables;
    for (const ScannedVariable& v : scan_variables(info_section(dwarf), header)) {
      found_variables.emplace_back(v.offset, v.function, v.is_part_of_common);
    }
    EXPECT_EQ(found_variables, expected_variables);
    variables += found_variables.size();
  }
  EXPECT_GT(scopes, 10u);
  EXPECT_GE(variables, 3u);
  dwarf_end(dwarf);
  close(fd);
}

TEST(DieScanner, AgreesWithAWalkThroughTheTree) {
  const TemporaryDirectory directory;
  directory.write("demo.cc", kSource);
  for (const char* compiler : {"g++", "clang++"}) {
    if (!is_installed(compiler)) continue;
    for (const char* flags : {"-O2 -gdwarf-5", "-O0 -gdwarf-4", "-O1 -gdwarf-4 -fdebug-types-section",
                              "-O2 -gdwarf-5 -fdebug-types-section", "-O1 -gdwarf-5 -gdwarf64", "-O1 -gdwarf-3",
                              "-O2 -gdwarf-2", "-O2 -gdwarf-5 -gz"}) {
      SCOPED_TRACE(std::string(compiler) + " " + flags);
      directory.run(std::string(compiler) + " -std=c++17 -g " + flags + " demo.cc -o demo");
      compare(directory.file("demo"));
    }
  }
}

TEST(DieScanner, Fortran) {
  if (!is_installed("gfortran")) GTEST_SKIP() << "gfortran is not installed";
  const TemporaryDirectory directory;
  std::string source =
      "program p\n  real :: a(10)\n  integer :: n, m(3)\n  common /c/ n, m\n  real, save :: s(9)\n  a = 1\n"
      "  n = 2\n  m = n\n  s = 3\n";
  for (int i = 0; i < 12; ++i) source += "  call inner" + std::to_string(i) + "(a)\n";
  source += "  print *, a\ncontains\n";
  for (int i = 0; i < 12; ++i) {
    const std::string name = "inner" + std::to_string(i);
    source += "  subroutine " + name + "(x)\n    real :: x(:)\n    x = x + 1\n  end subroutine\n";
  }
  directory.write("demo.f90", source + "end program\n");
  directory.run("gfortran -g -O0 demo.f90 -o demo");
  compare(directory.file("demo"));
}

}  // namespace
}  // namespace loopfold::symbols
