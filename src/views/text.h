// Names as text for people: made inert, measured and shortened.
//
// Names of functions and files are whatever bytes a binary holds. Shown as they are, an escape sequence would drive the
// terminal, a newline would forge a row, and a right-to-left override would turn a line round. Here everything that
// acts instead of being seen becomes a visible escape (\n, \x1b, \u{202e}), and what is not UTF-8 becomes U+FFFD; what
// is left can be written to a terminal, and into XML after the usual escaping. Escaping is for the eye: it is not
// undone anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace loopfold::views {

/// What text may consist of.
enum class Charset { kUnicode, kAscii };

/// The text with nothing in it but characters that are seen. In ASCII, others become \u{...}.
std::string inert(std::string_view text, Charset charset = Charset::kUnicode);

/// Spaces for tabs, with a stop every eight bytes.
std::string tabs_expanded(std::string_view text);

/// How many columns of a terminal inert text takes.
std::size_t columns(std::string_view text);

/// Inert text in that many columns at the most: "…" stands for what was taken out of the middle.
std::string shortened(std::string_view text, std::size_t most, Charset charset = Charset::kUnicode);

/// The same with the end taken away.
std::string clipped(std::string_view text, std::size_t most, Charset charset = Charset::kUnicode);

/// The same behind a whole word, unless that is far away.
std::string clipped_words(std::string_view text, std::size_t most, Charset charset = Charset::kUnicode);

/// Shortened in the middle like `shortened`, for the name of a function: the arguments of templates go first, then its
/// parameters, "f<…>::g(…)".
std::string shortened_name(std::string_view name, std::size_t most, Charset charset = Charset::kUnicode);

/// "f<…>::g(…)": no arguments of templates, no parameters.
std::string brief_name(std::string_view name, Charset charset = Charset::kUnicode);

/// "g": the last part of a name, without what it is in, what it returns and what it takes.
std::string base_name(std::string_view name);

/// For the text and the attributes of an XML document. The text must be inert.
std::string xml_escaped(std::string_view text);

/// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t number);

/// 12.345 -> "12.3"; what is not zero is at least "0.0" + something: 0.012 -> "0.01".
std::string percent_text(double percent);

/// `part` of `whole` in percent; 0 if there is no whole.
double percent_of(std::uint64_t part, std::uint64_t whole);

/// As a shell takes it for one word.
std::string shell_word(const std::string& text);

}  // namespace loopfold::views
