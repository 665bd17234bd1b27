#include "views/text.h"

#include <gtest/gtest.h>

#include <random>

#include "support/utf8.h"
#include "views/testing.h"

namespace loopfold::views {
namespace {

TEST(ViewText, what_acts_is_made_visible) {
  EXPECT_EQ(inert("matmul<double>(int)"), "matmul<double>(int)");
  EXPECT_EQ(inert("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(inert("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(inert("\x7f"), "\\x7f");
  EXPECT_EQ(inert("\xc2\x9b"
                  "31m"),
            "\\u{9b}31m");
  EXPECT_EQ(inert("\xe2\x80\xae"), "\\u{202e}");
  EXPECT_EQ(inert("\xef\xbf\xbf"), "\\u{ffff}");
  EXPECT_EQ(inert("\xff"), "\xef\xbf\xbd");
  EXPECT_EQ(inert("größe"), "größe");
  EXPECT_EQ(inert("größe", Charset::kAscii), "gr\\u{f6}\\u{df}e");
  EXPECT_EQ(inert("\xff", Charset::kAscii), "?");
}

TEST(ViewText, nothing_that_acts_is_left) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; round++) {
    std::string text = testing::random_text(random);
    for (int i = 0; i < 5; i++) text += static_cast<char>(random());
    for (const Charset charset : {Charset::kUnicode, Charset::kAscii}) {
      const std::string result = inert(text, charset);
      EXPECT_EQ(valid_utf8(result), result);
      EXPECT_EQ(inert(result, charset), result);
      for (const char c : result) {
        EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
        if (charset == Charset::kAscii) {
          EXPECT_LT(static_cast<unsigned char>(c), 0x80);
        }
      }
    }
  }
}

TEST(ViewText, columns_of_a_terminal) {
  EXPECT_EQ(columns(""), 0u);
  EXPECT_EQ(columns("größe"), 5u);
  EXPECT_EQ(columns("漢字"), 4u);
  EXPECT_EQ(columns("e\xcc\x81"), 1u);
}

TEST(ViewText, the_middle_goes_first) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(shortened("abcdefghij", 7, Charset::kAscii), "ab...ij");
  EXPECT_EQ(shortened("abcdefghij", 1), "a");
  EXPECT_EQ(shortened("abcdefghij", 0), "");
  EXPECT_EQ(clipped("abcdefghij", 7), "abcdef…");
}

TEST(ViewText, words_stay_whole) {
  EXPECT_EQ(clipped_words("one two three", 13), "one two three");
  EXPECT_EQ(clipped_words("one two three", 12), "one two …");
  EXPECT_EQ(clipped_words("one two three", 9), "one two …");
  EXPECT_EQ(clipped_words("one, two three", 8), "one …");
  EXPECT_EQ(clipped_words("one two three", 12, Charset::kAscii), "one two ...");
  EXPECT_EQ(clipped_words("one twothreefourfive", 16), "one twothreefou…");  // too much would be gone
  EXPECT_EQ(clipped_words("abcdefghij", 7), "abcdef…");
}

TEST(ViewText, shortened_text_fits) {
  std::mt19937 random(2);
  for (int round = 0; round < 3000; round++) {
    const std::string text = inert(testing::random_text(random));
    const std::size_t most = random() % 40;
    for (const std::string& result :
         {shortened(text, most), shortened_name(text, most), clipped(text, most), clipped_words(text, most)}) {
      EXPECT_LE(columns(result), most);
      EXPECT_EQ(valid_utf8(result), result);
      if (columns(text) <= most) {
        EXPECT_EQ(result, text);
      }
    }
  }
}

TEST(ViewText, templates_give_way_before_names) {
  const std::string name = "ns::Matrix<double, std::vector<double> >::times<float>(ns::Matrix<float> const&) const";
  EXPECT_EQ(shortened_name(name, 100), name);
  EXPECT_EQ(shortened_name(name, 60), "ns::Matrix<…>::times<…>(ns::Matrix<…> const&) const");
  EXPECT_EQ(shortened_name(name, 40), "ns::Matrix<…>::times<…>(…) const");
  EXPECT_EQ(columns(shortened_name(name, 20)), 20u);
  EXPECT_EQ(brief_name("operator<< <char>(int)"), "operator<< <char>(int)");
  EXPECT_EQ(brief_name("a<b"), "a<b");
  EXPECT_EQ(brief_name("a>b<c"), "a>b<c");
  EXPECT_EQ(brief_name("f()"), "f()");
}

TEST(ViewText, base_names) {
  EXPECT_EQ(base_name("main"), "main");
  EXPECT_EQ(base_name("void std::sort<int*>(int*, int*)"), "sort");
  EXPECT_EQ(base_name("std::vector<int, std::allocator<int> >::push_back(int const&)"), "push_back");
  EXPECT_EQ(base_name("(anonymous namespace)::f(int)"), "f");
  EXPECT_EQ(base_name("a::operator()(int)"), "a::operator()(int)");
  EXPECT_EQ(base_name("<core::iter::Map as Iterator>::next"), "next");
  for (const std::string& name : testing::hostile_names()) EXPECT_EQ(base_name(inert(name)).empty(), name.empty());
}

TEST(ViewText, xml) {
  EXPECT_EQ(xml_escaped("<a b=\"c\" d='e'>&amp;"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;");
}

TEST(ViewText, numbers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(18446744073709551615u), "18,446,744,073,709,551,615");
  EXPECT_EQ(percent_text(0), "0.0");
  EXPECT_EQ(percent_text(12.345), "12.3");
  EXPECT_EQ(percent_text(0.012), "0.012");
  EXPECT_EQ(percent_text(1e-9), "<0.001");
  EXPECT_EQ(percent_of(1, 0), 0);
  EXPECT_EQ(percent_of(1, 4), 25);
}

TEST(ViewText, shell_words) {
  EXPECT_EQ(shell_word("./a.out"), "./a.out");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(ViewText, tabs) {
  EXPECT_EQ(tabs_expanded("\ta\tb"), "        a       b");
  EXPECT_EQ(tabs_expanded("12345678\t|"), "12345678        |");
  EXPECT_EQ(tabs_expanded("none"), "none");
}

}  // namespace
}  // namespace loopfold::views
