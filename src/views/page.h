// Text for a terminal as it grows: lines and wrapped paragraphs of one width, in colour or not.
//
// Every view that prints more than a table writes to one of these, so that all wrap, indent and paint in the same way.
// What is given must be inert (text.h). Columns are counted without the escape sequences of styles.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "views/row.h"
#include "views/text.h"

namespace loopfold::views {

/// The text in lines of so many columns at the most, broken at spaces, but not between a number and its %; a
/// longer word is cut.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, Charset charset = Charset::kUnicode);

class Page {
 public:
  static constexpr std::size_t kLeastWidth = 60;
  static constexpr std::size_t kMostWidth = 100;  // longer lines are hard to read, however wide the terminal is

  Page(std::size_t width, bool color, Charset charset);

  std::size_t width() const { return width_; }
  Charset charset() const { return charset_; }
  std::string_view dots() const { return charset_ == Charset::kAscii ? "..." : "…"; }
  std::string_view arrow() const { return charset_ == Charset::kAscii ? "->" : "→"; }
  std::string_view times() const { return charset_ == Charset::kAscii ? "x" : "×"; }
  std::string paint(std::string_view text, Style style) const { return styled(text, style, color_); }

  void line(std::string_view text = "");
  std::string fitted(const Row& row, std::size_t width) const { return row.fitted(width, color_, charset_); }
  void line(const Row& row) { line(row.fitted(width_, color_, charset_)); }
  /// Wrapped, every line indented.
  void paragraph(std::string_view text, std::size_t indent, Style style = Style::kPlain);
  /// Wrapped behind a mark that stands in the first line only: "- ", "1. ".
  void item(std::string_view mark, std::string_view text, std::size_t indent, Style style = Style::kPlain);
  /// A line of its own above a section, with an empty one before it.
  void heading(std::string_view text);
  /// Any text, inert or not: its lines keep their breaks and their indentation; those that are too long are cut.
  void block(std::string_view text, std::size_t indent, Style style = Style::kPlain);

  std::string take() { return std::move(out_); }

 private:
  std::size_t room(std::size_t indent) const { return width_ > indent ? width_ - indent : 1; }

  std::size_t width_;
  bool color_;
  Charset charset_;
  std::string out_;
};

}  // namespace loopfold::views
