#include "views/page.h"

#include <algorithm>

namespace loopfold::views {

namespace {

/// A percent sign belongs to the number before it.
std::size_t end_of_word(std::string_view text) {
  constexpr std::string_view kPercent = " %";
  const std::size_t end = std::min(text.find(' '), text.size());
  if (end == 0 || !text.substr(end).starts_with(kPercent)) return end;
  return std::min(text.find(' ', end + kPercent.size()), text.size());
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t width, Charset charset) {
  std::vector<std::string> lines;
  std::string line;
  const auto add_word = [&](std::string_view word) {
    const bool fits = line.empty() || columns(line) + 1 + columns(word) <= width;
    if (!fits) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    if (columns(line) > width) line = clipped(line, width, charset);
  };
  while (!text.empty()) {
    const std::size_t end = end_of_word(text);
    if (end > 0) add_word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

Page::Page(std::size_t width, bool color, Charset charset)
    : width_(std::clamp(width, kLeastWidth, kMostWidth)), color_(color), charset_(charset) {}

void Page::line(std::string_view text) {
  out_ += text;
  out_ += '\n';
}

void Page::paragraph(std::string_view text, std::size_t indent, Style style) {
  for (const std::string& part : wrapped(text, room(indent), charset_))
    line(std::string(indent, ' ') + paint(part, style));
}

void Page::item(std::string_view mark, std::string_view text, std::size_t indent, Style style) {
  const std::size_t hang = columns(mark);
  const std::vector<std::string> lines = wrapped(text, room(indent + hang), charset_);
  for (std::size_t i = 0; i < lines.size(); i++) {
    const std::string front = i == 0 ? std::string(mark) : std::string(hang, ' ');
    line(std::string(indent, ' ') + paint(front + lines[i], style));
  }
}

void Page::heading(std::string_view text) {
  line();
  line(paint(clipped(text, width_, charset_), Style::kStrong));
}

void Page::block(std::string_view text, std::size_t indent, Style style) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string shown = inert(tabs_expanded(text.substr(0, end)), charset_);
    line(std::string(indent, ' ') + paint(clipped(shown, room(indent), charset_), style));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace loopfold::views
