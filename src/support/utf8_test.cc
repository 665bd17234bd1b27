#include "support/utf8.h"

#include <gtest/gtest.h>

#include <random>

namespace loopfold {
namespace {

TEST(Utf8, every_character_comes_back) {
  for (char32_t point = 0; point <= 0x10ffff; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    std::string text;
    append_utf8(text, point);
    const Utf8Character character = decode_utf8(text, 0);
    ASSERT_TRUE(character.valid) << std::uint32_t{point};
    ASSERT_EQ(character.point, point);
    ASSERT_EQ(character.bytes, text.size());
  }
}

TEST(Utf8, bad_bytes_are_replaced_one_by_one) {
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(valid_utf8("größe"), "größe");
  EXPECT_EQ(valid_utf8("a\xff"
                       "b"),
            "a" + bad + "b");
  EXPECT_EQ(valid_utf8("\xc3"), bad);                                   // cut off
  EXPECT_EQ(valid_utf8("\xc0\xaf"), bad + bad);                         // not the shortest form
  EXPECT_EQ(valid_utf8("\xe0\x80\xaf"), bad + bad + bad);               // nor this
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), bad + bad + bad);               // a surrogate
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), bad + bad + bad + bad);     // above U+10FFFF
  EXPECT_EQ(valid_utf8(std::string("\0x", 2)), std::string("\0x", 2));  // a zero is a character
  EXPECT_EQ(valid_utf8("\xe2\x82x"), bad + bad + "x");                  // broken off inside the text
}

TEST(Utf8, what_was_mended_needs_no_mending) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; round++) {
    std::string text;
    const std::size_t length = random() % 20;
    for (std::size_t i = 0; i < length; i++) text += static_cast<char>(random() % 3 == 0 ? random() % 128 : random());
    const std::string once = valid_utf8(text);
    EXPECT_EQ(valid_utf8(once), once);
  }
}

}  // namespace
}  // namespace loopfold
