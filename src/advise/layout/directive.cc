#include "advise/layout/directive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <set>
#include <stdexcept>

namespace loopfold::layout {

namespace {

constexpr std::int64_t kLargestNumber = std::numeric_limits<std::int32_t>::max();
constexpr int kDeepest = 100;  // parentheses

constexpr std::array<std::string_view, 14> kIslWords = {"mod",   "and",  "or",      "not", "exists", "floor", "floord",
                                                        "ceild", "ceil", "implies", "min", "max",    "infty", "NaN"};

struct Token {
  enum class Kind { kEnd, kName, kNumber, kSign };
  Kind kind = Kind::kEnd;
  std::string text;
  std::size_t offset = 0;
};

/// Thrown and caught inside this file: what was expected, and where.
struct Unexpected {
  std::size_t offset;
  std::string what;
};

class Lexer {
 public:
  Lexer(std::string_view text, std::size_t begin, std::size_t end) : text_(text), at_(begin), end_(end) {}

  Token next() {
    at_ = skip_blank(text_, at_, end_);
    Token token;
    token.offset = at_;
    if (at_ >= end_) return token;
    const std::size_t begin = at_;
    if (begins_name(text_[at_])) {
      while (at_ < end_ && continues_name(text_[at_])) at_++;
      token.kind = Token::Kind::kName;
    } else if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      while (at_ < end_ && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) at_++;
      token.kind = Token::Kind::kNumber;
    } else {
      at_ += text_.substr(at_, 2) == "->" ? 2 : 1;
      token.kind = Token::Kind::kSign;
    }
    token.text = std::string(text_.substr(begin, at_ - begin));
    return token;
  }

 private:
  std::string_view text_;
  std::size_t at_;
  std::size_t end_;
};

class Parser {
 public:
  Parser(std::string_view text, std::size_t begin, std::size_t end) : text_(text), lexer_(text, begin, end) { step(); }

  /// Everything behind `layout`.
  std::vector<MapClause> clauses() {
    std::vector<MapClause> maps;
    std::vector<Padding> paddings;
    while (token_.kind != Token::Kind::kEnd) {
      if (is("map"))
        maps.push_back(map_clause());
      else if (is("pad"))
        paddings.push_back(pad_clause());
      else
        expected(maps.empty() ? "map(...)" : "map(...), pad(...) or the end of the line");
    }
    if (maps.empty()) expected("map(...)");
    for (const Padding& padding : paddings) apply(padding, maps);
    check(maps);
    return maps;
  }

 private:
  struct Padding {
    std::string array;
    std::size_t offset = 0;
    std::vector<std::int64_t> cells;
  };

  void step() { token_ = lexer_.next(); }
  bool is(std::string_view text) const { return token_.kind != Token::Kind::kEnd && token_.text == text; }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    step();
    return true;
  }
  [[noreturn]] void expected(std::string_view what) const {
    const std::string found = token_.kind == Token::Kind::kEnd ? "the end of the directive" : "'" + token_.text + "'";
    throw Unexpected{token_.offset, fmt::format("expected {}, found {}", what, found)};
  }
  void take(std::string_view text) {
    if (!accept(text)) expected(fmt::format("'{}'", text));
  }
  std::string take_name(std::string_view what) {
    if (token_.kind != Token::Kind::kName) expected(what);
    std::string name = token_.text;
    if (std::find(kIslWords.begin(), kIslWords.end(), name) != kIslWords.end())
      throw Unexpected{token_.offset, fmt::format("'{}' has a meaning of its own in maps and cannot be a name", name)};
    step();
    return name;
  }
  std::int64_t take_number(std::string_view what) {
    if (token_.kind != Token::Kind::kNumber) expected(what);
    if (token_.text.size() > 10 || std::stoll(token_.text) > kLargestNumber)
      throw Unexpected{token_.offset, fmt::format("{} is too large: up to {}", token_.text, kLargestNumber)};
    const std::int64_t value = std::stoll(token_.text);
    step();
    return value;
  }

  /// '(' or '[', and what closes it.
  std::string_view open() {
    if (accept("(")) return ")";
    if (accept("[")) return "]";
    expected("'(' or '['");
  }

  void close_or_comma(std::string_view close) const {
    if (!is(",") && !is(close)) expected(fmt::format("',' or '{}'", close));
  }

  Transfer transfer() {
    if (accept("in")) return Transfer::kIn;
    if (accept("out")) return Transfer::kOut;
    if (accept("inout")) return Transfer::kInOut;
    if (accept("redist")) return Transfer::kRedistribute;
    expected("in, out, inout or redist");
  }

  MapClause map_clause() {
    step();
    take("(");
    MapClause clause;
    clause.transfer = transfer();
    take(":");
    const bool braces = accept("{");
    clause.place = place_of(text_, token_.offset);
    clause.array = take_name("the name of an array");
    while (accept(".")) clause.field += (clause.field.empty() ? "" : ".") + take_name("the name of a field");
    clause.indices = index_names();
    take("->");
    clause.target = expressions(nullptr);
    clause.padding.assign(clause.target.size(), 0);
    if (braces) take("}");
    take(":");
    clause.type_place = place_of(text_, token_.offset);
    clause.type = type_name();
    const std::size_t sizes = token_.offset;
    if (!is("[")) expected("'[' and the sizes of the array");
    clause.extents = expressions(&clause.indices);
    if (clause.extents.size() != clause.indices.size())
      throw Unexpected{sizes,
                       fmt::format("expected {} sizes for {}, which has {} indices, found {}", clause.indices.size(),
                                   clause.array, clause.indices.size(), clause.extents.size())};
    take(")");
    return clause;
  }

  std::vector<std::string> index_names() {
    const std::string_view close = open();
    std::vector<std::string> names;
    do {
      const std::size_t offset = token_.offset;
      names.push_back(take_name("the name of an index"));
      if (std::count(names.begin(), names.end(), names.back()) > 1)
        throw Unexpected{offset, fmt::format("'{}' is the name of two indices", names.back())};
      close_or_comma(close);
    } while (accept(","));
    take(close);
    return names;
  }

  /// A bracketed list. If `forbidden` is given the expressions are sizes: affine, and without these names.
  std::vector<QuasiAffine> expressions(const std::vector<std::string>* forbidden) {
    const std::string_view close = open();
    std::vector<QuasiAffine> result;
    do {
      const std::size_t offset = token_.offset;
      result.push_back(expression(0));
      if (forbidden != nullptr) check_size(result.back(), *forbidden, offset);
      close_or_comma(close);
    } while (accept(","));
    take(close);
    return result;
  }

  static void check_size(const QuasiAffine& size, const std::vector<std::string>& indices, std::size_t offset) {
    if (!size.is_affine()) throw Unexpected{offset, "expected a size that is affine in names of the program"};
    for (const std::string& name : size.names())
      if (std::find(indices.begin(), indices.end(), name) != indices.end())
        throw Unexpected{offset, fmt::format("a size cannot depend on the index '{}'", name)};
    if (size.is_constant() && size.constant() < 1)
      throw Unexpected{offset, fmt::format("expected a size of at least 1, found {}", size.constant())};
  }

  std::string type_name() {
    std::string type;
    while (token_.kind == Token::Kind::kName || is("*")) {
      type += (type.empty() ? "" : " ") + token_.text;
      step();
    }
    if (type.empty()) expected("the type of the elements");
    return type;
  }

  QuasiAffine expression(int depth) {
    if (depth > kDeepest) throw Unexpected{token_.offset, "too many parentheses"};
    const bool negative = accept("-");
    if (!negative) accept("+");
    QuasiAffine result = term(depth) * (negative ? -1 : 1);
    for (;;) {
      if (accept("+"))
        result = result + term(depth);
      else if (accept("-"))
        result = result - term(depth);
      else
        return result;
    }
  }

  QuasiAffine term(int depth) {
    QuasiAffine result = factor(depth);
    for (;;) {
      const std::size_t offset = token_.offset;
      if (accept("*")) {
        const QuasiAffine other = factor(depth);
        if (!result.is_constant() && !other.is_constant())
          throw Unexpected{offset, "not affine: a product of two expressions that are not numbers"};
        result = result.is_constant() ? other * result.constant() : result * other.constant();
      } else if (accept("/")) {
        result = result.quotient(divisor());
      } else if (accept("%") || accept("mod")) {
        result = result.remainder(divisor());
      } else {
        return result;
      }
    }
  }

  std::int64_t divisor() {
    const std::size_t offset = token_.offset;
    const std::int64_t value = take_number("a positive number to divide by");
    if (value == 0) throw Unexpected{offset, "expected a positive number to divide by, found '0'"};
    return value;
  }

  QuasiAffine factor(int depth) {
    if (token_.kind == Token::Kind::kNumber) {
      const QuasiAffine number = take_number("a number");
      const bool multiple = token_.kind == Token::Kind::kName && !is("mod");
      return multiple ? factor(depth + 1) * number.constant() : number;
    }
    if (accept("-")) return factor(depth + 1) * -1;
    const bool floor = accept("floor");
    if (is("(") || (!floor && is("["))) {
      const std::string_view close = open();
      QuasiAffine inner = expression(depth + 1);
      take(close);
      return inner;
    }
    if (floor) expected("'('");
    return QuasiAffine::name(take_name("an expression"));
  }

  Padding pad_clause() {
    step();
    take("(");
    Padding padding;
    padding.offset = token_.offset;
    padding.array = take_name("the name of an array");
    while (accept(".")) padding.array += "." + take_name("the name of a field");
    take(":");
    do padding.cells.push_back(take_number("a number of cells"));
    while (accept(","));
    take(")");
    return padding;
  }

  static void apply(const Padding& padding, std::vector<MapClause>& maps) {
    for (MapClause& map : maps) {
      if (map.array + (map.field.empty() ? "" : ".") + map.field != padding.array) continue;
      if (padding.cells.size() != map.target.size())
        throw Unexpected{padding.offset, fmt::format("expected {} numbers of cells, one for each dimension of the map, "
                                                     "found {}",
                                                     map.target.size(), padding.cells.size())};
      map.padding = padding.cells;
      return;
    }
    throw Unexpected{padding.offset,
                     fmt::format("expected an array that has a map in this directive, found '{}'", padding.array)};
  }

  static void check(const std::vector<MapClause>& maps) {
    std::set<std::string> seen;
    for (const MapClause& map : maps) {
      if (!seen.insert(map.array + "." + map.field).second)
        throw Unexpected{map.place.offset, fmt::format("'{}' has a map already", map.array)};
      if ((map.transfer == Transfer::kRedistribute) != (maps[0].transfer == Transfer::kRedistribute))
        throw Unexpected{map.place.offset, "expected redist for all maps of a directive or for none"};
      if (std::find(map.indices.begin(), map.indices.end(), map.array) != map.indices.end())
        throw Unexpected{map.place.offset, fmt::format("'{}' is the array's name and an index", map.array)};
    }
  }

  std::string_view text_;
  Lexer lexer_;
  Token token_;
};

Error error_at(const std::string& file, std::string_view text, const Unexpected& unexpected) {
  const Place place = place_of(text, unexpected.offset);
  return {ErrorKind::kBadInput,
          fmt::format("{}:{}:{}: #pragma layout: {}", file, place.line, place.column, unexpected.what)};
}

/// The end of a preprocessor line: a newline that is neither continued nor in a comment.
std::size_t end_of_line(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != '\n') {
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '\n')
      at += 2;
    else if (text.substr(at, 3) == "\\\r\n")
      at += 3;
    else if (text.substr(at, 2) == "/*")
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    else
      at = text[at] == '"' ? skip_literal(text, at, text.size()) : at + 1;
  }
  return at;
}

std::string take_word(std::string_view text, std::size_t& at, std::size_t end) {
  at = skip_blank(text, at, end);
  const std::size_t begin = at;
  while (at < end && continues_name(text[at])) at++;
  return std::string(text.substr(begin, at - begin));
}

class Scanner {
 public:
  Scanner(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  Result<ScannedSource> scan() {
    bool at_line_start = true;
    std::size_t at = 0;
    while (at < text_.size()) {
      const char c = text_[at];
      const std::string_view two = text_.substr(at, 2);
      if (c == '\n') {
        at_line_start = true;
        at++;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        at++;
      } else if (two == "//" || two == "/*" || (c == '\\' && skip_blank(text_, at, text_.size()) > at)) {
        at = two == "//" ? end_of_comment(at) : skip_one(at);
      } else if (c == '#' && at_line_start) {
        const Result<std::size_t> end = line(at);
        if (!end) return tl::unexpected<Error>(end.error());
        at = *end;
      } else {
        at_line_start = false;
        at = c == '"' || c == '\'' ? skip_literal(text_, at, text_.size()) : at + 1;
      }
    }
    return std::move(found_);
  }

 private:
  std::size_t end_of_comment(std::size_t at) const {
    while (at < text_.size() && text_[at] != '\n') at += text_.substr(at, 2) == "\\\n" ? 2 : 1;
    return std::min(at, text_.size());
  }
  std::size_t skip_one(std::size_t at) const {
    if (text_.substr(at, 2) == "/*") return std::min(text_.find("*/", at + 2), text_.size() - 2) + 2;
    return text_.find('\n', at) + 1;
  }

  Result<std::size_t> line(std::size_t begin) {
    const std::size_t end = end_of_line(text_, begin);
    std::size_t at = begin + 1;
    const std::string keyword = take_word(text_, at, end);
    std::size_t behind = at;
    const std::string word = keyword == "pragma" ? take_word(text_, behind, end) : "";
    if (word == "scop" || word == "endscop") {
      found_.scops.push_back({begin, word == "scop"});
    } else if (word == "layout") {
      if (Result<Directive> directive = parse(begin, behind, end))
        found_.directives.push_back(std::move(*directive));
      else
        return tl::unexpected<Error>(directive.error());
    } else if (keyword == "pragma" || keyword == "define" || keyword == "include") {
      found_.others.push_back({begin, end, place_of(text_, begin), keyword, word});
    }
    return end;
  }

  Result<Directive> parse(std::size_t begin, std::size_t clauses, std::size_t end) const {
    Directive directive;
    directive.begin = begin;
    directive.end = end > begin && text_[end - 1] == '\r' ? end - 1 : end;
    directive.place = place_of(text_, begin);
    try {
      directive.maps = Parser(text_, clauses, end).clauses();
    } catch (const Unexpected& unexpected) {
      return tl::unexpected<Error>(error_at(file_, text_, unexpected));
    } catch (const std::overflow_error& overflow) {
      return tl::unexpected<Error>(error_at(file_, text_, {begin, overflow.what()}));
    }
    return directive;
  }

  const std::string& file_;
  std::string_view text_;
  ScannedSource found_;
};

std::string joined(const std::vector<QuasiAffine>& expressions) {
  std::string text;
  for (const QuasiAffine& expression : expressions) text += (text.empty() ? "" : ", ") + expression.isl_text();
  return text;
}

}  // namespace

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t skip_blank(std::string_view text, std::size_t at, std::size_t end) {
  for (;;) {
    const std::string_view two = text.substr(std::min(at, text.size()), 2);
    if (at >= end) return end;
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0)
      at++;
    else if (two == "\\\n")
      at += 2;
    else if (text.substr(at, 3) == "\\\r\n")
      at += 3;
    else if (two == "//")
      at = std::min(text.find('\n', at), end);
    else if (two == "/*")
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    else
      return at;
  }
}

std::size_t skip_literal(std::string_view text, std::size_t at, std::size_t end) {
  const char quote = text[at++];
  while (at < end && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, end);
}

Place place_of(std::string_view text, std::size_t offset) {
  Place place;
  place.offset = std::min(offset, text.size());
  for (std::size_t i = 0; i < place.offset; i++) {
    place.column++;
    if (text[i] != '\n') continue;
    place.line++;
    place.column = 1;
  }
  return place;
}

std::string_view transfer_name(Transfer transfer) {
  switch (transfer) {
    case Transfer::kIn:
      return "in";
    case Transfer::kOut:
      return "out";
    case Transfer::kInOut:
      return "inout";
    case Transfer::kRedistribute:
      return "redist";
  }
  return "";
}

Result<ScannedSource> scan_source(const std::string& file, std::string_view text) { return Scanner(file, text).scan(); }

Result<Directive> parse_directive(const std::string& file, std::string_view text) {
  Directive directive;
  directive.end = text.size();
  try {
    directive.maps = Parser(text, 0, text.size()).clauses();
  } catch (const Unexpected& unexpected) {
    return tl::unexpected<Error>(error_at(file, text, unexpected));
  } catch (const std::overflow_error& overflow) {
    return tl::unexpected<Error>(error_at(file, text, {0, overflow.what()}));
  }
  return directive;
}

std::string directive_text(const Directive& directive) {
  std::string text = "layout";
  for (const MapClause& map : directive.maps) {
    std::string indices;
    for (const std::string& index : map.indices) indices += (indices.empty() ? "" : ", ") + index;
    text += fmt::format(" map({}: {}{}{}[{}] -> [{}] : {}[{}])", transfer_name(map.transfer), map.array,
                        map.field.empty() ? "" : ".", map.field, indices, joined(map.target), map.type,
                        joined(map.extents));
    if (std::all_of(map.padding.begin(), map.padding.end(), [](std::int64_t cells) { return cells == 0; })) continue;
    std::string cells;
    for (const std::int64_t count : map.padding) cells += (cells.empty() ? "" : ", ") + std::to_string(count);
    text += fmt::format(" pad({}{}{}: {})", map.array, map.field.empty() ? "" : ".", map.field, cells);
  }
  return text;
}

}  // namespace loopfold::layout
