#include "symbols/loop_heads.h"

#include <gtest/gtest.h>

#include <string>

namespace loopfold::symbols {
namespace {

using Language = LoopHeads::Language;

/// "line<parent's line" of all loops; * for those without one.
std::string heads(std::string_view text, Language language = Language::kC) {
  const LoopHeads found(text, language);
  std::string all;
  for (const LoopHeads::Head& head : found.heads()) {
    if (!all.empty()) all += ' ';
    all += std::to_string(head.first) + "<" +
           (head.parent == LoopHeads::kNone ? "*" : std::to_string(found.heads()[head.parent].first)) + ".." +
           std::to_string(head.end);
  }
  return all;
}

TEST(LoopHeads, a_body_is_a_statement_or_a_block) {
  EXPECT_EQ(heads("void f() {\n"
                  "for (;;)\n"
                  "  for (int i = 0; i < 3; ++i) {\n"
                  "    a[i] = 0;\n"
                  "  }\n"
                  "while (x) g();\n"
                  "}\n"),
            "2<*..5 3<2..5 6<*..6");
}

TEST(LoopHeads, an_if_with_an_else_is_one_statement) {
  EXPECT_EQ(heads("void f() {\n"
                  "for (;;)\n"
                  "  if (a)\n"
                  "    for (;;) b();\n"
                  "  else\n"
                  "    while (c) d();\n"
                  "for (;;) e();\n"
                  "}\n"),
            "2<*..6 4<2..4 6<2..6 7<*..7");
}

TEST(LoopHeads, a_do_ends_with_its_condition) {
  const char* const text =
      "void f() {\n"
      "do {\n"
      "  while (a) b();\n"
      "} while (c);\n"
      "do d(); while (e);\n"
      "}\n";
  EXPECT_EQ(heads(text), "2<*..4 3<2..3 5<*..5");
  const LoopHeads found(text, Language::kC);
  EXPECT_EQ(found.nested_in(4), 1u);  // the condition is as good as the head
  EXPECT_TRUE(found.is_same_head(2, 4));
}

TEST(LoopHeads, what_is_no_code_does_not_count) {
  EXPECT_EQ(heads("// for (;;) {\n"
                  "/* for (;;)\n {{ */\n"
                  "#define EACH for (;;) { \\\n"
                  "  for (;;)\n"
                  "char c = '{', d = '\\'', *s = \"for (;;) {\\\"\";\n"
                  "auto r = R\"x(for (;;) { )\" \n)x\";\n"
                  "int n = 1'000;\n"
                  "void f() { for (;;) g(\"}\"); }\n"),
            "10<*..10");
}

TEST(LoopHeads, directives_may_be_long) {
  EXPECT_EQ(heads("#define A 1 /* the number\n"
                  "  that isn't { used */\n"
                  "#define EACH for (;;) { \\\r\n"
                  "  {\r\n"
                  "#if 0\r\n"
                  "what isn't code\r\n"
                  "#endif\r\n"
                  "void f() { for (;;) g(); }\r\n"),
            "8<*..8");
}

TEST(LoopHeads, loops_may_be_in_arguments_and_behind_initialisers) {
  EXPECT_EQ(heads("void f() {\n"
                  "int a[] = {1, 2};\n"
                  "each(n, [&](int i) {\n"
                  "  for (int j : b) c({j, i});\n"
                  "  if (int k = i; k) for (;;) d = (struct S){1};\n"
                  "});\n"
                  "}\n"),
            "4<*..4 5<*..5");
}

TEST(LoopHeads, brackets_that_do_not_match_say_nothing) {
  EXPECT_EQ(heads("void f() { for (;;) g(; }\n"), "");
  EXPECT_EQ(heads("void f() { for (;;) {\n"), "");
  EXPECT_EQ(heads("} for (;;) g();\n"), "");
  EXPECT_EQ(heads("for (\n"), "");
  EXPECT_EQ(heads("for (;;) do while (\n"), "");
  EXPECT_EQ(heads(""), "");
}

TEST(LoopHeads, lines_ask_for_loops) {
  const LoopHeads found(
      "void f() {\n"
      "for (int k = 0; k < n;\n"
      "     ++k)\n"
      "  for (i = 0; i < n; ++i) {\n"
      "    a[i] += 1;\n"
      "    for (j = 0; j < n; ++j) for (l = 0; l < n; ++l)\n"
      "      b[j] += 1;\n"
      "  }\n"
      "}\n",
      Language::kC);
  EXPECT_EQ(found.nested_in(3), 1u);
  EXPECT_EQ(found.nested_in(6), 2u);
  EXPECT_EQ(found.nested_in(5), 0u);
  EXPECT_EQ(found.at(5), (std::vector{2, 4}));
  EXPECT_EQ(found.at(7), (std::vector{2, 4, 6, 6}));
  EXPECT_EQ(found.at(9), std::vector<int>{});
  EXPECT_TRUE(found.is_inside(7, 4));
  EXPECT_FALSE(found.is_inside(5, 6));
  EXPECT_EQ(found.around(6, 1), 4);
  EXPECT_EQ(found.around(6, 2), 2);
  EXPECT_EQ(found.around(6, 3), std::nullopt);
  EXPECT_EQ(found.around(5, 1), std::nullopt);
  EXPECT_TRUE(found.is_same_head(2, 3));
  EXPECT_FALSE(found.is_same_head(3, 4));
}

TEST(LoopHeads, fortran_has_do_and_end_do_and_labels) {
  EXPECT_EQ(heads("do k = 1, n ! do it\n"
                  "  outer: do while (x > 1)\n"
                  "    dot = 'do i = 1, n'\n"
                  "    DO 10, i = 1, n\n"
                  "    do 10 j = 1, n\n"
                  "10  a(i, j) = 0\n"
                  "  end do outer\n"
                  "enddo\n"
                  "do concurrent (i = 1:n)\n"
                  "end do\n"
                  "do\n"
                  "  exit\n"
                  "end do\n",
                  Language::kFortran),
            "1<*..8 2<1..7 4<2..6 5<4..6 9<*..10 11<*..13");
}

TEST(LoopHeads, not_all_that_begins_with_do_is_a_loop) {
  EXPECT_EQ(heads("dot = max(x(i), 3.0)\n"
                  "do i = 1, 3; x = x + 1; end do\n"
                  "do i = 1, n\n"
                  "end do\n",
                  Language::kFortran),
            "2<*..2 3<*..4");
}

TEST(LoopHeads, old_fortran_has_comments_in_its_first_column) {
  EXPECT_EQ(heads("C     DO IT\n"
                  "      DO 20 I = 1, N\n"
                  "*     ENDDO\n"
                  "   20 CONTINUE\n"
                  "      END\n",
                  Language::kFortran),
            "2<*..4");
}

TEST(LoopHeads, the_language_is_told_by_the_name) {
  EXPECT_EQ(LoopHeads::language_of("a/b.c"), Language::kC);
  EXPECT_EQ(LoopHeads::language_of("a.CPP"), Language::kC);
  EXPECT_EQ(LoopHeads::language_of("a.f90"), Language::kFortran);
  EXPECT_EQ(LoopHeads::language_of("a.rs"), std::nullopt);
  EXPECT_EQ(LoopHeads::language_of("a/b"), std::nullopt);
}

}  // namespace
}  // namespace loopfold::symbols
