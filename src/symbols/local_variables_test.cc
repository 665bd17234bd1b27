// Variables of small functions, compiled here.
#include "symbols/local_variables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "symbols/compile_for_test.h"
#include "symbols/symbolizer.h"

namespace loopfold::symbols {
namespace {

constexpr const char* kText = R"(
double sum(const double* a, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    double t = a[i] * 2;
    s += t * t;
  }
  return s;
}
int main(void) { double a[3] = {1, 2, 3}; return (int)sum(a, 3); }
)";

class LocalVariables : public ::testing::TestWithParam<std::string> {
 protected:
  LocalVariables() {
    directory_.write("code.c", kText);
    directory_.run("gcc -g -fno-inline -no-pie -fcf-protection=none " + GetParam() + " -o code code.c");
    symbolizer_ = std::make_unique<Symbolizer>(std::vector<trace::Module>{directory_.module("code", 0)});
    start_ = directory_.functions("code")["sum"];
    locals_ = symbolizer_->locals(start_);
  }
  const LocalVariable* find(const std::string& name) const {
    const auto found =
        std::find_if(locals_.begin(), locals_.end(), [&](const LocalVariable& v) { return v.name == name; });
    return found == locals_.end() ? nullptr : &*found;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Symbolizer> symbolizer_;
  std::uint64_t start_ = 0;
  std::vector<LocalVariable> locals_;
};

TEST_P(LocalVariables, AreFoundWithTheirPlaces) {
  for (const char* name : {"a", "n", "s", "t", "i"}) {
    const LocalVariable* const variable = find(name);
    if (variable == nullptr && GetParam() != "-O0") continue;
    ASSERT_NE(variable, nullptr) << name;
    EXPECT_EQ(variable->size, std::string("ni").find(name) != std::string::npos ? 4U : 8U) << name;
    if (variable->places.empty() && GetParam() != "-O0") continue;
    ASSERT_FALSE(variable->places.empty());
    EXPECT_GE(variable->places.front().code.start, start_);
    if (GetParam() == "-O0") {
      EXPECT_FALSE(variable->places.front().in_register);
      EXPECT_LT(variable->places.front().offset, -8);
    }
  }
  ASSERT_NE(find("s"), nullptr);
  EXPECT_EQ(find("s")->line, 3);
  EXPECT_TRUE(find("n")->parameter);
}

/// What the compiler computes instead: the counter is a constant before the loop. Without optimisation, all is stored.
TEST_P(LocalVariables, HaveValues) {
  for (const LocalVariable& local : locals_) {
    if (GetParam() == "-O0") {
      EXPECT_TRUE(local.values.empty()) << local.name;
    }
    for (const LocalVariable::Value& value : local.values) EXPECT_LT(value.code.start, value.code.end) << local.name;
  }
  if (GetParam() == "-O0") return;
  EXPECT_TRUE(std::any_of(locals_.begin(), locals_.end(), [](const LocalVariable& local) {
    return std::any_of(local.values.begin(), local.values.end(),
                       [](const LocalVariable::Value& value) { return value.registers.empty(); });
  }));
}

/// The block of the loop's body is smaller than that of the function.
TEST_P(LocalVariables, HaveAScope) {
  if (GetParam() != "-O0") return;
  const auto length = [&](const char* name) {
    std::uint64_t all = 0;
    for (const CodeRange& range : find(name)->scope) all += range.end - range.start;
    return all;
  };
  EXPECT_LT(length("t"), length("i"));
  EXPECT_LT(length("i"), length("s"));
}

/// What other compilers make of it, and functions that are written inside of others.
struct Written {
  const char* name;
  const char* compiler;
  const char* file;
  const char* text;
  const char* function;  // begins with this, or has it inside
};

class LocalVariablesOf : public ::testing::TestWithParam<Written> {};

TEST_P(LocalVariablesOf, AreFound) {
  const Written& written = GetParam();
  const std::string compiler = written.compiler;
  if (std::system(("command -v " + compiler + " > /dev/null").c_str()) != 0) GTEST_SKIP() << compiler << " is missing";
  TemporaryDirectory directory;
  directory.write(written.file, written.text);
  directory.run(compiler + " -g -O0 -no-pie -o code " + written.file);
  Symbolizer symbolizer({directory.module("code", 0)});
  std::uint64_t start = 0;
  for (const auto& [name, address] : directory.functions("code"))
    if (name.find(written.function) != std::string::npos) start = address;
  ASSERT_NE(start, 0U);
  const std::vector<LocalVariable> locals = symbolizer.locals(start);
  const auto found =
      std::find_if(locals.begin(), locals.end(), [](const LocalVariable& v) { return v.name == "inner"; });
  ASSERT_NE(found, locals.end());
  ASSERT_EQ(found->places.size(), 1U);
  EXPECT_FALSE(found->places.front().in_register);
  EXPECT_LE(found->places.front().offset, -24);  // below the return address, the saved register and itself
  EXPECT_EQ(found->size, 8U);
  EXPECT_TRUE(std::none_of(locals.begin(), locals.end(), [](const LocalVariable& v) { return v.name == "outer"; }));
}

INSTANTIATE_TEST_SUITE_P(
    Places, LocalVariablesOf,
    ::testing::Values(Written{"Clang", "clang", "code.c",
                              "void work(void) { double inner = 1; inner *= 2; }\n"
                              "int main(void) { double outer = 2; work(); return (int)outer; }\n",
                              "work"},
                      Written{"NestedFunction", "gcc", "code.c",
                              "int main(void) { double outer = 2;\n"
                              "  void work(void) { double inner = 1; inner *= 2; }\n"
                              "  work(); return (int)outer; }\n",
                              "work"},
                      Written{"Lambda", "g++", "code.cc",
                              "int main() { double outer = 2;\n"
                              "  auto work = [](double a) { double inner = a; inner *= 2; return inner; };\n"
                              "  return (int)(work(3) + outer); }\n",
                              "ENKUl"},
                      Written{"LocalClass", "g++", "code.cc",
                              "int main() { double outer = 2;\n"
                              "  struct Local { void work() { double inner = 1; inner *= 2; } };\n"
                              "  Local().work(); return (int)outer; }\n",
                              "4work"},
                      Written{"ModuleProcedure", "gfortran", "code.f90",
                              "module m\ncontains\n subroutine work()\n  real(8) :: inner\n  inner = 1\n"
                              "  inner = inner * 2\n end subroutine\nend module\n"
                              "program p\n use m\n real(8) :: outer\n outer = 2\n call work()\nend program\n",
                              "_MOD_work"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Levels, LocalVariables, ::testing::Values("-O0", "-O1"),
                         [](const auto& info) { return info.param.substr(1); });

}  // namespace
}  // namespace loopfold::symbols
