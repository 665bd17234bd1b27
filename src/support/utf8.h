// UTF-8 that may be anything: names of files and symbols are bytes, and nothing says what they mean.
//
// Well-formed is what Unicode calls so: shortest form, no surrogates, nothing above U+10FFFF. Where bytes are not, one
// byte is taken for one bad character, and decoding goes on behind it. Linear, and exact: what is well-formed is kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace loopfold {

inline constexpr char32_t kReplacementCharacter = 0xfffd;

/// One character of a text.
struct Utf8Character {
  char32_t point = 0;     // U+FFFD if it is not well-formed
  std::size_t bytes = 1;  // 1 if it is not well-formed
  bool valid = false;
};

/// The character that starts at `at`, which must lie in the text.
Utf8Character decode_utf8(std::string_view text, std::size_t at);

void append_utf8(std::string& text, char32_t point);

/// The text with each byte that is not part of well-formed UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace loopfold
