#include "advise/layout/directive.h"

#include <gtest/gtest.h>

namespace loopfold::layout {
namespace {

std::string error_of(const std::string& text) {
  const Result<ScannedSource> scanned = scan_source("f.c", text);
  return scanned ? "" : scanned.error().message;
}

std::string canonical(const std::string& text) {
  const Result<Directive> parsed = parse_directive("f.c", text);
  return parsed ? directive_text(*parsed) : parsed.error().message;
}

TEST(Directive, PapersExample) {
  EXPECT_EQ(canonical("map(inout: C(e1,e2) -> (0, e1, e2) : double[ni, nj]) map(in: A(e1,e2) -> (1, e2, 0, e1) : "
                      "double[ni, nk])"),
            "layout map(inout: C[e1, e2] -> [0, e1, e2] : double[ni, nj]) map(in: A[e1, e2] -> [1, e2, 0, e1] : "
            "double[ni, nk])");
}

TEST(Directive, CanonicalFormIsReadAgain) {
  for (const char* const text :
       {"map(in: A[i] -> [i/4, i%4] : unsigned char[n])", "map(out: { A(i) -> (2i - (i + 1)/3) } : struct p[2*n + 1])",
        "map(redist: P.x(i) -> (floor(i/2), i mod 2) : float[8]) pad(P.x: 0, 3)",
        "map(in: s(i) -> ([i/2], -i) : char *[4])"}) {
    const Result<Directive> first = parse_directive("f.c", text);
    ASSERT_TRUE(first) << first.error().message;
    const std::string once = directive_text(*first);
    const Result<Directive> second = parse_directive("f.c", once.substr(6));
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(directive_text(*second), once);
    EXPECT_EQ(second->maps[0].target, first->maps[0].target);
    EXPECT_EQ(second->maps[0].padding, first->maps[0].padding);
  }
}

TEST(Directive, FoundWhereTheCompilerSeesThem) {
  const std::string text =
      "// #pragma layout map(nonsense\n"
      "/* \n#pragma layout map(nonsense\n*/\n"
      "const char* s = \"\\\n#pragma layout nonsense\";\n"
      "  # pragma /* odd */ layout map(in: A(i) -> \\\n"
      "     (i) : int[n]) // behind\n"
      "#pragma scop\n#pragma endscop\n#pragma omp parallel\n";
  const Result<ScannedSource> scanned = scan_source("f.c", text);
  ASSERT_TRUE(scanned) << scanned.error().message;
  ASSERT_EQ(scanned->directives.size(), 1u);
  const Directive& directive = scanned->directives[0];
  EXPECT_EQ(directive.place.line, 7);
  EXPECT_EQ(directive.place.column, 3);
  EXPECT_EQ(text.substr(directive.begin, directive.end - directive.begin),
            "# pragma /* odd */ layout map(in: A(i) -> \\\n     (i) : int[n]) // behind");
  EXPECT_EQ(directive.maps[0].place.line, 7);
  EXPECT_EQ(directive.maps[0].place.column, 37);
  EXPECT_EQ(scanned->scops.size(), 2u);
  EXPECT_EQ(scanned->others.size(), 1u);
}

TEST(Directive, ErrorsSayWhereAndWhatWasExpected) {
  const std::string p = "#pragma layout ";
  EXPECT_EQ(error_of(p), "f.c:1:16: #pragma layout: expected map(...), found the end of the directive");
  EXPECT_EQ(error_of(p + "map(into: A(i) -> (i) : int[n])"),
            "f.c:1:20: #pragma layout: expected in, out, inout or redist, found 'into'");
  EXPECT_EQ(error_of("\n\n" + p + "map(in: A(i) -> (i) : int[n]) \\\n  mop(in)"),
            "f.c:4:3: #pragma layout: expected map(...), pad(...) or the end of the line, found 'mop'");
  EXPECT_EQ(error_of(p + "map(in: A(i) -> (i : int[n])"), "f.c:1:35: #pragma layout: expected ',' or ')', found ':'");
  EXPECT_EQ(error_of(p + "map(in: A(i) -> (i*i) : int[n])"),
            "f.c:1:34: #pragma layout: not affine: a product of two expressions that are not numbers");
  EXPECT_EQ(error_of(p + "map(in: A(i) -> (i/n) : int[n])"),
            "f.c:1:35: #pragma layout: expected a positive number to divide by, found 'n'");
  EXPECT_EQ(error_of(p + "map(in: A(i) -> (i/0) : int[n])"),
            "f.c:1:35: #pragma layout: expected a positive number to divide by, found '0'");
  EXPECT_EQ(error_of(p + "map(in: A(i,j) -> (i,j) : int[n])"),
            "f.c:1:45: #pragma layout: expected 2 sizes for A, which has 2 indices, found 1");
  EXPECT_EQ(error_of(p + "map(in: A(i) -> (i) : int[i])"),
            "f.c:1:42: #pragma layout: a size cannot depend on the index 'i'");
  EXPECT_EQ(error_of(p + "map(in: A(i) -> (i) : int[0])"),
            "f.c:1:42: #pragma layout: expected a size of at least 1, found 0");
  EXPECT_EQ(error_of(p + "map(in: A(i) -> (i) : [n])"),
            "f.c:1:38: #pragma layout: expected the type of the elements, found '['");
  EXPECT_EQ(error_of(p + "map(in: A(i) -> (i) : int[n]) map(out: A(i) -> (i) : int[n])"),
            "f.c:1:55: #pragma layout: 'A' has a map already");
  EXPECT_EQ(error_of(p + "map(in: A(i) -> (i) : int[n]) pad(B: 1)"),
            "f.c:1:50: #pragma layout: expected an array that has a map in this directive, found 'B'");
  EXPECT_EQ(error_of(p + "map(in: A(i) -> (i) : int[n]) pad(A: 1, 2)"),
            "f.c:1:50: #pragma layout: expected 1 numbers of cells, one for each dimension of the map, found 2");
  EXPECT_EQ(error_of(p + "map(in: A(i) -> (99999999999*i) : int[n])"),
            "f.c:1:33: #pragma layout: 99999999999 is too large: up to 2147483647");
}

TEST(Directive, EveryPrefixIsAnErrorOrParses) {
  const std::string whole =
      "#pragma layout map(inout: C(e1,e2) -> (0, e1/32, (e2 + 1)%64) : double[ni, 2*nj]) pad(C: 0, 1, 2)";
  for (std::size_t length = 16; length < whole.size(); length++) {
    const std::string error = error_of(whole.substr(0, length));
    EXPECT_TRUE(error.empty() || error.rfind("f.c:1:", 0) == 0) << error;
  }
  EXPECT_EQ(error_of(whole), "");
  EXPECT_NE(error_of("#pragma layout map(in: A(i) -> (" + std::string(100000, '(')), "");
}

}  // namespace
}  // namespace loopfold::layout
