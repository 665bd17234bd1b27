#include "advise/layout/generate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace loopfold::layout {
namespace {

std::vector<Phi> phis_of(const std::string& clauses) {
  const Result<Directive> directive = parse_directive("f.c", clauses);
  EXPECT_TRUE(directive) << directive.error().message;
  std::vector<Phi> phis;
  for (const MapClause& map : directive->maps) phis.push_back(phi_of(map));
  return phis;
}

const char* const kProduct =
    "map(inout: C(e1,e2) -> (0, e1, e2) : double[ni, nj]) map(in: A(e1,e2) -> (1, e2, 0, e1) : double[ni, nk]) "
    "map(in: B(e1,e2) -> (1, e1, 1, e2) : double[nk, nj])";

class Generating : public ::testing::Test {
 protected:
  Generated generated(const std::vector<Phi>& phis, Form form, Cells cells = Cells::kOwn,
                      const std::set<std::string>& taken = {}) {
    Names names(taken);
    Result<Generated> code = generate(context_, phis, {}, form, names, cells);
    EXPECT_TRUE(code) << code.error().message;
    return *code;
  }
  static bool has(const Generated& code, const std::string& line) {
    return ("\n" + code.declarations).find("\n" + line + "\n") != std::string::npos;
  }

  poly::IslContext holder_{isl_ctx_alloc()};
  isl_ctx* context_ = holder_.get();
};

/// The paper's linearised field, with its errata: lengths, sizes of nodes, macros.
TEST_F(Generating, PapersField) {
  const Generated code = generated(phis_of(kProduct), Form::kField);
  for (const char* const line :
       {"const long len_0 = size_ni < 1 ? 1 : size_ni;", "const long len_1 = size_nk < 1 ? 1 : size_nk;",
        "const long band_0_0 = len_0_0;", "const long band_0 = len_0 * band_0_0;",
        "const long seq_1 = band_1_0 + band_1_1;", "const long band_1 = len_1 * seq_1;",
        "const long seq_root = band_0 + band_1;", "#define _C(e1, e2) field[(e1) * band_0_0 + (e2)]",
        "#define _A(e1, e2) field[band_0 + (e2) * seq_1 + (e1)]",
        "#define _B(e1, e2) field[band_0 + (e1) * seq_1 + band_1_0 + (e2)]"})
    EXPECT_TRUE(has(code, line)) << line << "\n" << code.declarations;
  EXPECT_EQ(code.copy_in.at("A"),
            "for (long e1 = 0; e1 < size_ni; e1++) {\n  for (long e2 = 0; e2 < size_nk; e2++) {\n"
            "    _A(e1, e2) = A[e1][e2];\n  }\n}\n");
}

TEST_F(Generating, PapersStructs) {
  const Generated code = generated(phis_of(kProduct), Form::kStructs);
  for (const char* const line :
       {"struct seq_1 {\n  double* band_1_0;\n  double* band_1_1;\n};", "double** band_0;", "struct seq_1* band_1;",
        "#define _C(e1, e2) band_0[(e1)][(e2)]", "#define _A(e1, e2) band_1[(e2)].band_1_0[(e1)]",
        "#define _B(e1, e2) band_1[(e1)].band_1_1[(e2)]"})
    EXPECT_TRUE(has(code, line)) << line << "\n" << code.declarations;
}

TEST_F(Generating, PapersTiles) {
  const std::vector<Phi> phis = phis_of("map(in: C(x,y) -> (x/32, y/64, x%32, y%64) : double[ni, nj])");
  EXPECT_TRUE(has(generated(phis, Form::kStructs), "#define _C(x, y) band_0[(x) / 32][(y) / 64][(x) % 32][(y) % 64]"));
  EXPECT_EQ(generated(phis, Form::kField).uses.at("C"), (std::vector<int>{2, 2}));
}

TEST_F(Generating, NamesThatAreTakenAreNotUsed) {
  const Generated code =
      generated(phis_of("map(in: A(i) -> (i) : int[n])"), Form::kField, Cells::kOwn, {"field", "_A", "size_n"});
  EXPECT_EQ(code.macros.at("A"), "_A_v2");
  EXPECT_TRUE(has(code, "#define _A_v2(i) field_v2[(i)]")) << code.declarations;
}

/// The paper's contraction as code: S and T in one cell, U in a row; the row of live-ins waits in U's cells, and the
/// column comes row by row (values_test.cc proves it).
TEST_F(Generating, PapersContractionRuns) {
  const std::vector<Phi> phis = phis_of(
      "map(in: insS(i,j) -> (0) : double[ni, nj]) map(in: insT(i,j) -> (0) : double[ni, nj]) map(in: insU(i,j) -> (1, "
      "j) : "
      "double[ni, nj])");
  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() / ("loopfold-contraction-" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  for (const Form form : {Form::kField, Form::kStructs}) {
    const Generated code = generated(phis, form, Cells::kShared);
    const std::string source = directory / "contraction.c", program = directory / "contraction";
    std::ofstream(source)
        << "#include <stdlib.h>\n"
           "int main(void) {\n  const int ni = 9, nj = 13;\n"
           "  double A[9][13], B[9][13], C[9][13], D[9][13];\n"
           "  for (int i = 0; i < ni; i++)\n    for (int j = 0; j < nj; j++) C[i][j] = D[i][j] = i * 0.7 + j;\n"
           "  for (int i = 1; i < ni; i++)\n    for (int j = 1; j < nj; j++) {\n"
           "      A[i][j] = C[i][j - 1];\n      B[i][j] = A[i][j] + C[i - 1][j];\n      C[i][j] = B[i][j];\n"
           "    }\n"
        << code.declarations
        << "  for (int j = 1; j < nj; j++) _insU(0, j) = D[0][j];\n"
           "  for (int i = 1; i < ni; i++) {\n    _insU(i, 0) = D[i][0];\n"
           "    for (int j = 1; j < nj; j++) {\n"
           "      _insS(i, j) = _insU(i, j - 1);\n      _insT(i, j) = _insS(i, j) + _insU(i - 1, j);\n"
           "      _insU(i, j) = _insT(i, j);\n      if (_insU(i, j) != C[i][j]) return 1;\n    }\n  }\n"
        << code.release << "  return 0;\n}\n";
    const std::string command = "gcc -Wall -Wextra -Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all " +
                                source + " -o " + program + " && " + program;
    EXPECT_EQ(std::system(command.c_str()), 0) << code.declarations;
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace loopfold::layout
