#include "views/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "support/utf8.h"

namespace loopfold::views {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

bool among(const Range* begin, const Range* end, char32_t point) {
  const auto before = [](const Range& range, char32_t wanted) { return range.last < wanted; };
  const Range* const found = std::lower_bound(begin, end, point, before);
  return found != end && point >= found->first;
}

/// Controls, what turns or hides text, line ends, private signs of a font, and what XML forbids.
bool acts(char32_t point) {
  static constexpr Range kActing[] = {{0x0, 0x1f},      {0x7f, 0x9f},       {0xad, 0xad},       {0x61c, 0x61c},
                                      {0x180e, 0x180e}, {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
                                      {0xe000, 0xf8ff}, {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xfff0, 0xfffb},
                                      {0xfffe, 0xffff}, {0xe0000, 0xe0fff}, {0xf0000, 0x10ffff}};
  return among(std::begin(kActing), std::end(kActing), point) || (point & 0xfffe) == 0xfffe;
}

std::size_t columns_of(char32_t point) {
  static constexpr Range kNone[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},
                                    {0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
                                    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
  static constexpr Range kTwo[] = {{0x1100, 0x115f},   {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},  {0xf900, 0xfaff},
                                   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                                   {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  if (point < 0x300) return 1;
  if (among(std::begin(kNone), std::end(kNone), point)) return 0;
  return among(std::begin(kTwo), std::end(kTwo), point) ? 2 : 1;
}

void append_escape(std::string& text, char32_t point) {
  switch (point) {
    case '\n':
      text += "\\n";
      break;
    case '\r':
      text += "\\r";
      break;
    case '\t':
      text += "\\t";
      break;
    default:
      text += point < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(point))
                           : fmt::format("\\u{{{:x}}}", static_cast<unsigned>(point));
  }
}

std::string_view dots(Charset charset) { return charset == Charset::kAscii ? "..." : "…"; }

/// The longest beginning of the text that takes that many columns.
std::string_view head_of(std::string_view text, std::size_t most) {
  std::size_t at = 0;
  std::size_t used = 0;
  while (at < text.size()) {
    const Utf8Character character = decode_utf8(text, at);
    used += columns_of(character.point);
    if (used > most) break;
    at += character.bytes;
  }
  return text.substr(0, at);
}

/// The longest end of the text that takes that many columns.
std::string_view tail_of(std::string_view text, std::size_t most) {
  std::size_t at = 0;
  for (std::size_t left = columns(text); left > most;) {
    const Utf8Character character = decode_utf8(text, at);
    left -= columns_of(character.point);
    at += character.bytes;
  }
  return text.substr(at);
}

/// The name without what stands in its outermost template brackets; the name itself if brackets cannot be told from
/// comparison operators.
std::string without_template_arguments(std::string_view name, Charset charset) {
  if (name.find("operator") != std::string_view::npos) return std::string(name);
  std::string result;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < name.size(); i++) {
    const bool arrow = name[i] == '>' && i > 0 && name[i - 1] == '-';
    if (name[i] == '>' && !arrow) {
      if (depth == 0) return std::string(name);
      if (--depth == 0) result += dots(charset);
    }
    if (depth == 0) result += name[i];
    if (name[i] == '<') depth++;
  }
  return depth == 0 ? result : std::string(name);
}

/// The name with "…" for its parameters: from the last parenthesis that closes to the one that opens it.
std::string without_parameters(std::string_view name, Charset charset) {
  const std::size_t end = name.rfind(')');
  if (end == std::string_view::npos || name.find("operator") != std::string_view::npos) return std::string(name);
  std::size_t depth = 0;
  for (std::size_t i = end + 1; i-- > 1;) {
    if (name[i] == ')') depth++;
    if (name[i] == '(' && --depth == 0) {
      if (end - i < 2) break;
      return fmt::format("{}({}{}", name.substr(0, i), dots(charset), name.substr(end));
    }
  }
  return std::string(name);
}

}  // namespace

std::string inert(std::string_view text, Charset charset) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = decode_utf8(text, at);
    if (!character.valid && charset == Charset::kAscii) {
      result += '?';
    } else if (acts(character.point) || (character.point >= 0x80 && charset == Charset::kAscii)) {
      append_escape(result, character.point);
    } else {
      append_utf8(result, character.point);
    }
    at += character.bytes;
  }
  return result;
}

std::string tabs_expanded(std::string_view text) {
  constexpr std::size_t kStop = 8;
  std::string result;
  for (const char c : text) {
    if (c == '\t')
      result.append(kStop - result.size() % kStop, ' ');
    else
      result += c;
  }
  return result;
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = decode_utf8(text, at);
    count += columns_of(character.point);
    at += character.bytes;
  }
  return count;
}

std::string shortened(std::string_view text, std::size_t most, Charset charset) {
  if (columns(text) <= most) return std::string(text);
  const std::size_t mark = columns(dots(charset));
  if (most <= mark) return std::string(head_of(text, most));
  const std::size_t tail = (most - mark) / 2;
  return fmt::format("{}{}{}", head_of(text, most - mark - tail), dots(charset), tail_of(text, tail));
}

std::string clipped(std::string_view text, std::size_t most, Charset charset) {
  if (columns(text) <= most) return std::string(text);
  const std::size_t mark = columns(dots(charset));
  if (most <= mark) return std::string(head_of(text, most));
  return fmt::format("{}{}", head_of(text, most - mark), dots(charset));
}

std::string clipped_words(std::string_view text, std::size_t most, Charset charset) {
  if (columns(text) <= most) return std::string(text);
  const std::size_t mark = columns(dots(charset)) + 1;
  if (most <= mark) return clipped(text, most, charset);
  std::string_view head = head_of(text, most - mark);
  if (text[head.size()] != ' ') {
    const std::size_t space = head.find_last_of(' ');
    if (space == std::string_view::npos || space < head.size() / 2) return clipped(text, most, charset);
    head = head.substr(0, space);
  }
  while (!head.empty() && (head.back() == ' ' || head.back() == ',')) head.remove_suffix(1);
  return fmt::format("{} {}", head, dots(charset));
}

std::string shortened_name(std::string_view name, std::size_t most, Charset charset) {
  if (columns(name) <= most) return std::string(name);
  const std::string shorter = without_template_arguments(name, charset);
  if (columns(shorter) <= most) return shorter;
  return shortened(without_parameters(shorter, charset), most, charset);
}

std::string brief_name(std::string_view name, Charset charset) {
  return without_parameters(without_template_arguments(name, charset), charset);
}

std::string base_name(std::string_view name) {
  const std::string brief = brief_name(name);
  if (brief.find("operator") != std::string::npos || brief.find("{lambda") != std::string::npos) return brief;
  std::string_view rest = std::string_view(brief).substr(0, brief.rfind('('));
  constexpr std::string_view kArguments = "<…>";
  if (rest.ends_with(kArguments)) rest.remove_suffix(kArguments.size());
  const std::size_t start = rest.find_last_of(": ");
  if (start != std::string_view::npos) rest.remove_prefix(start + 1);
  return rest.empty() ? brief : std::string(rest);
}

std::string xml_escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string percent_text(double percent) {
  if (percent == 0 || percent >= 0.1) return fmt::format("{:.1f}", percent);
  return percent < 0.001 ? "<0.001" : fmt::format("{:.2g}", percent);
}

double percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("_-./+:=@%,").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace loopfold::views
