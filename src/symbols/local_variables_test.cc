// Variables of small functions, compiled here.
#include "symbols/local_variables.h"

#include <gtest/gtest.h>

#include <algorithm>

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
    EXPECT_FALSE(variable->places.empty());
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

INSTANTIATE_TEST_SUITE_P(Levels, LocalVariables, ::testing::Values("-O0", "-O1"),
                         [](const auto& info) { return info.param.substr(1); });

}  // namespace
}  // namespace loopfold::symbols
