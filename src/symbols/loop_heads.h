// The loops of a source text: where their heads stand, and which is inside which.
//
// Not a parser of the language: it knows comments, strings, preprocessor lines, brackets, and the statements that have
// a statement inside (`for`, `while`, `do`, `if`, `else`, `switch`), which is what the nesting of loops takes in C and
// C++; in Fortran, `do` and `end do`, with labels too. Loops that macros make are not found, and both branches of an
// `#if` are read. If brackets do not match, nothing is said about the text.
//
// Cost: linear in the text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace loopfold::symbols {

class LoopHeads {
 public:
  enum class Language { kC, kFortran };

  LoopHeads(std::string_view text, Language language);

  /// By the ending of a file's name; nothing for languages that are not known.
  static std::optional<Language> language_of(std::string_view file);

  /// How many loops are inside each other in a line, at most: of those whose heads stand there.
  std::size_t nested_in(int line) const;
  /// The lines of the loops that a line is inside of, or stands in the head of, outermost first.
  std::vector<int> at(int line) const;
  /// The line of the loop around the outermost loop of a line; of the one around that, if `out` is 2, and so on.
  std::optional<int> around(int line, std::size_t out) const;
  /// Whether a line is inside the outermost loop of another one, or stands in its head.
  bool is_inside(int line, int loop) const;
  /// Whether a head of a loop stands in both lines.
  bool is_same_head(int line, int other) const;

  struct Head {
    int first = 0;  // line
    int last = 0;
    int end = 0;  // last line of the body, or that of the condition of a do loop
    std::size_t parent = kNone;
    bool tests_last = false;
    bool has(int line) const { return (first <= line && line <= last) || (tests_last && line == end); }
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  const std::vector<Head>& heads() const { return heads_; }

 private:
  std::vector<Head> heads_;  // in the order of the text
};

}  // namespace loopfold::symbols
