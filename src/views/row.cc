#include "views/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace loopfold::views {

namespace {

std::string_view code_of(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kCall:
      return "\x1b[1m";
    case Style::kLoop:
      return "\x1b[36m";
    case Style::kRecursion:
      return "\x1b[35m";
    case Style::kOrigin:
      return "\x1b[33m";
    case Style::kHot:
      return "\x1b[1;31m";
    case Style::kCaution:
      return "\x1b[1;33m";
    case Style::kStrong:
      return "\x1b[1m";
    case Style::kFaint:
      return "\x1b[2m";
  }
  return "";
}

}  // namespace

std::string styled(std::string_view text, Style style, bool color) {
  const std::string_view code = color ? code_of(style) : "";
  return code.empty() || text.empty() ? std::string(text) : fmt::format("{}{}\x1b[0m", code, text);
}

void Row::add(std::string text, Style style) { pieces_.push_back({std::move(text), style, Yield::kNever, 0}); }

void Row::add_name(std::string text, Style style, std::size_t least) {
  pieces_.push_back({std::move(text), style, Yield::kShorten, least});
}

void Row::add_optional(std::string text, Style style) { pieces_.push_back({std::move(text), style, Yield::kDrop, 0}); }

std::size_t Row::total(const std::vector<Piece>& pieces) {
  std::size_t sum = 0;
  for (const Piece& piece : pieces) sum += columns(piece.text);
  return sum;
}

std::string Row::fitted(std::size_t width, bool color, Charset charset) const {
  std::vector<Piece> pieces = pieces_;
  std::size_t used = total(pieces);
  for (Piece& piece : pieces) {
    if (used <= width || piece.yield != Yield::kShorten) continue;
    const std::size_t now = columns(piece.text);
    const std::size_t wanted = std::max(now - std::min(now, used - width), std::max<std::size_t>(piece.least, 40));
    piece.text = shortened_name(piece.text, wanted, charset);
    used -= now - columns(piece.text);
  }
  for (std::size_t i = pieces.size(); i-- > 0 && used > width;) {
    if (pieces[i].yield != Yield::kDrop) continue;
    used -= columns(pieces[i].text);
    pieces[i].text.clear();
  }
  for (Piece& piece : pieces) {
    if (used <= width || piece.yield != Yield::kShorten) continue;
    const std::size_t now = columns(piece.text);
    piece.text = shortened_name(piece.text, std::max(now - std::min(now, used - width), piece.least), charset);
    used -= now - columns(piece.text);
  }
  std::string row;
  std::size_t left = width;
  for (const Piece& piece : pieces) {
    const std::string text = shortened(piece.text, left, charset);
    left -= std::min(left, columns(text));
    row += styled(text, piece.style, color);
  }
  return row;
}

}  // namespace loopfold::views
