#include "advise/layout/rewrite.h"

#include <gtest/gtest.h>

namespace loopfold::layout {
namespace {

Result<Rewritten> rewritten(const std::string& text, Form form = Form::kField) {
  return rewrite("memory.c", text, {form, {"-std=gnu17"}});
}

/// The first reason, or what went wrong, or "" if it can be done.
std::string refusal(const std::string& text) {
  const Result<Rewritten> result = rewritten(text);
  if (!result) return result.error().message;
  return result->reasons.empty() ? "" : result->reasons[0];
}

/// The line of the result that has this in it.
std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

std::string function(const std::string& maps, const std::string& body, const std::string& before = "") {
  return before + "double sqrt(double);\nvoid f(int n, double A[n][n], int *x, int k) {\n#pragma layout " + maps +
         "\n" + body + "\n}\n";
}

const char* const kTransposed = "map(inout: A(i,j) -> (j, i) : double[n, n])";

TEST(Rewrite, ElementsBecomeMacros) {
  const auto line = [](const std::string& body, const std::string& before = "") {
    const Result<Rewritten> result = rewritten(function(kTransposed, body, before));
    EXPECT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->reasons.empty()) << result->reasons[0];
    return line_with(result->text, "/*1*/");
  };
  EXPECT_EQ(line("/*1*/ for (;;) A[1][2] = A[k][n - 1];"), "/*1*/ for (;;) _A(1, 2) = _A(k, n - 1);");
  EXPECT_EQ(line("/*1*/ for (;;) A[x[0]][(int)A[1][2]]++;"), "/*1*/ for (;;) _A(x[0], (int)_A(1, 2))++;");
  EXPECT_EQ(line("/*1*/ for (;;) A [ k ] /*[*/ [2] = ']';"), "/*1*/ for (;;) _A ( k , /*[*/  2) = ']';");
  EXPECT_EQ(line("/*1*/ for (;;) A[k, 1][2] = sizeof(A[0]);"), "/*1*/ for (;;) _A((k, 1), 2) = sizeof(A[0]);");
  EXPECT_EQ(line("/*1*/ for (;;) A[k++][2] = sqrt(A[1][1]);"), "/*1*/ for (;;) _A(k++, 2) = sqrt(_A(1, 1));");
  EXPECT_EQ(line("/*1*/ for (;;) k = TWICE(A[1][2]);", "#define TWICE(x) ((x) + (x))\n"),
            "/*1*/ for (;;) k = TWICE(_A(1, 2));");
}

TEST(Rewrite, RegionsEndWhereTheirStatementDoes) {
  const std::string text =
      function(kTransposed, "for (int i = 0; i < n; i++)\n  if (k) A[i][0] = 1; else A[i][1] = 2 ; k = A[0][0] > 1;");
  const Result<Rewritten> result = rewritten(text);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(line_with(result->text, "_A(i, 1)"), "  if (k) _A(i, 0) = 1; else _A(i, 1) = 2 ;");
  EXPECT_NE(result->text.find("#undef _A\n} k = A[0][0] > 1;\n}\n"), std::string::npos) << result->text;
}

TEST(Rewrite, OtherFieldsStay) {
  const std::string head = "struct p { struct { double x, y; } at; int z; };\nvoid g(int n, struct p *P) {\n";
  const std::string map = "#pragma layout map(inout: P.at.x(e) -> (e) : double[n])\n";
  const Result<Rewritten> result =
      rewritten(head + map + "for (int i = 0; i < n; i++) P[i].at.x = P[P[i].z].at.y;\n}\n");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->reasons.empty()) << result->reasons[0];
  EXPECT_EQ(line_with(result->text, "int i = 0"), "for (int i = 0; i < n; i++) _P_at_x(i) = P[P[i].z].at.y;");
  EXPECT_NE(refusal(head + map + "for (;;) P[0] = P[1];\n}\n").find("whole structure"), std::string::npos);
  EXPECT_NE(refusal(head + map + "for (;;) P[0].at = P[1].at;\n}\n").find("whole structure"), std::string::npos);
}

/// The region may change what sizes came from: a redistribution goes on with those that were read before it.
TEST(Rewrite, SizesAreReadOnce) {
  const Result<Rewritten> result = rewritten(
      function(kTransposed,
               "{ A[0][0] = 1; n = 7;\n#pragma layout map(redist: A(i,j) -> (i, j) : double[n, n])\nA[0][1] = 2; }"));
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->reasons.empty()) << result->reasons[0];
  const std::size_t first = result->text.find(" = n;\n");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(result->text.find(" = n;\n", first + 1), std::string::npos) << result->text;
  EXPECT_NE(result->text.find("_A_v2(0, 1) = 2;"), std::string::npos);
}

TEST(Rewrite, WhatThePreprocessorLeavesOutIsNoDirective) {
  const std::string text = "#if 0\n" + function(kTransposed, "for (;;) A[0][0] = 1;") + "#endif\n";
  EXPECT_EQ(refusal(text), "memory.c: has no #pragma layout");
}

TEST(Rewrite, OneUseIsEnoughForSideEffects) {
  EXPECT_EQ(refusal(function("map(inout: A(i,j) -> (j, i) : double[n, n])", "for (;;) A[k++][0] = 1;")), "");
  EXPECT_NE(refusal(function("map(inout: A(i,j) -> (j, i/2, i%2) : double[n, n])", "for (;;) A[k++][0] = 1;")), "");
}

TEST(Rewrite, OtherPragmasMayStandInBetween) {
  EXPECT_EQ(refusal(function(kTransposed, "#pragma omp parallel for\n  for (int i = 0; i < n; i++) A[i][0] = 1;")), "");
}

TEST(Rewrite, ControlStaysInside) {
  EXPECT_EQ(
      refusal(function(kTransposed,
                       "for (;;) { if (k) break; switch (k) { case 1: break; default: continue; } A[0][0] = 1; }")),
      "");
  EXPECT_EQ(refusal(function(kTransposed, "{ again: A[0][0] = 1; if (k--) goto again; }")), "");
  EXPECT_NE(refusal(function(kTransposed, "{ again: A[0][0] = 1; } if (k--) goto again;")).find("reached from outside"),
            std::string::npos);
}

}  // namespace
}  // namespace loopfold::layout
