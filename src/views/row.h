// A row of text for a terminal that must fit into a width: pieces, each with a style and a way to give way.
//
// Pieces are shortened or dropped in the order of their rank until the row fits; what has no rank stays. Only then is
// the row cut off. Columns are counted without the escape sequences of styles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "views/text.h"

namespace loopfold::views {

enum class Style { kPlain, kCall, kLoop, kRecursion, kOrigin, kHot, kCaution, kStrong, kFaint };

/// The text in its style; the text itself without colour.
std::string styled(std::string_view text, Style style, bool color);

class Row {
 public:
  /// Text that stays as it is.
  void add(std::string text, Style style = Style::kPlain);
  /// A name: shortened after all that can be dropped is gone, down to `least` columns.
  void add_name(std::string text, Style style, std::size_t least);
  /// Nice to know: dropped whole if the row is too long, the last one first.
  void add_optional(std::string text, Style style = Style::kFaint);

  std::string fitted(std::size_t width, bool color, Charset charset) const;

 private:
  enum class Yield { kNever, kShorten, kDrop };
  struct Piece {
    std::string text;
    Style style = Style::kPlain;
    Yield yield = Yield::kNever;
    std::size_t least = 0;
  };

  static std::size_t total(const std::vector<Piece>& pieces);

  std::vector<Piece> pieces_;
};

}  // namespace loopfold::views
