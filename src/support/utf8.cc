#include "support/utf8.h"

namespace loopfold {

namespace {

/// How many bytes follow a first byte, and the smallest character that needs them; nothing follows a bad one.
struct Lead {
  std::size_t follow = 0;
  char32_t bits = 0;
  char32_t least = 0;
};

Lead lead_of(unsigned char byte) {
  if (byte >= 0xc2 && byte <= 0xdf) return {1, char32_t{byte} & 0x1f, 0x80};
  if (byte >= 0xe0 && byte <= 0xef) return {2, char32_t{byte} & 0x0f, 0x800};
  if (byte >= 0xf0 && byte <= 0xf4) return {3, char32_t{byte} & 0x07, 0x10000};
  return {};
}

}  // namespace

Utf8Character decode_utf8(std::string_view text, std::size_t at) {
  const Utf8Character bad{kReplacementCharacter, 1, false};
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {byte, 1, true};
  const Lead lead = lead_of(byte);
  if (lead.follow == 0 || text.size() - at <= lead.follow) return bad;
  char32_t point = lead.bits;
  for (std::size_t i = 1; i <= lead.follow; i++) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xc0) != 0x80) return bad;
    point = point << 6 | (next & 0x3f);
  }
  if (point < lead.least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return bad;
  return {point, lead.follow + 1, true};
}

void append_utf8(std::string& text, char32_t point) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  const auto tail = [&](int shift) { put(0x80 | (point >> shift & 0x3f)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | point >> 6);
    tail(0);
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    tail(6);
    tail(0);
  } else {
    put(0xf0 | point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = decode_utf8(text, at);
    append_utf8(result, character.point);
    at += character.bytes;
  }
  return result;
}

}  // namespace loopfold
