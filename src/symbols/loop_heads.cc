#include "symbols/loop_heads.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace loopfold::symbols {

namespace {

using Head = LoopHeads::Head;
constexpr std::size_t kNone = LoopHeads::kNone;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct Token {
  std::string_view text;  // a word, or one character of punctuation
  int line = 0;
};

/// Words and brackets of C, without comments, strings and preprocessor lines.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {
    while (at_ < text_.size()) next();
  }
  std::vector<Token> take() { return std::move(tokens_); }

 private:
  void next() {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
      begins_line_ = true;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (c == '#' && begins_line_) {
      skip_directive();
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (text_.substr(at_, 2) == "/*") {
      skip_to("*/", 2);
    } else {
      begins_line_ = false;
      code(c);
    }
  }

  void code(char c) {
    if (is_word(c)) {
      const std::size_t first = at_;
      // A number may have ' in it.
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      while (at_ < text_.size() && (is_word(text_[at_]) || (number && text_[at_] == '\''))) ++at_;
      const std::string_view word = text_.substr(first, at_ - first);
      if (at_ < text_.size() && text_[at_] == '"' && word.ends_with('R') && word.size() <= 3) return skip_raw_string();
      tokens_.push_back({word, line_});
    } else if (c == '"' || c == '\'') {
      skip_quoted(c);
    } else {
      if (std::string_view("(){};").find(c) != std::string_view::npos) tokens_.push_back({text_.substr(at_, 1), line_});
      ++at_;
    }
  }

  void skip_directive() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (text_.substr(at_, 2) == "/*") {
        skip_to("*/", 2);
      } else if (text_.substr(at_, 2) == "\\\n" || text_.substr(at_, 3) == "\\\r\n") {
        ++line_;
        at_ += text_[at_ + 1] == '\n' ? 2 : 3;
      } else {
        ++at_;
      }
    }
  }
  void skip_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\n') return;  // no string after all: prose, under an #if 0
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size() && text_[at_] == '\n') ++line_;
    }
    ++at_;
  }
  void skip_raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
      return;
    }
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    skip_to(end, 0);
  }
  void skip_to(std::string_view end, std::size_t from) {
    const std::size_t found = text_.find(end, at_ + from);
    const std::size_t stop = found == std::string_view::npos ? text_.size() : found + end.size();
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
    at_ = stop;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool begins_line_ = true;
  std::vector<Token> tokens_;
};

/// Statements inside statements.
class Nesting {
 public:
  Nesting(std::vector<Token> tokens, std::vector<Head>& heads) : tokens_(std::move(tokens)), heads_(heads) {}

  /// False: brackets do not match.
  bool run() {
    while (at_ < tokens_.size())
      if (!step()) return false;
    return open_.empty();
  }

 private:
  enum class Kind : unsigned char { kBrace, kParenthesis, kBody, kIf, kDo };
  struct Open {
    Kind kind = Kind::kBrace;
    std::size_t head = kNone;  // that is around what is inside
    bool ends_statement = false;
  };

  std::string_view text(std::size_t at) const { return at < tokens_.size() ? tokens_[at].text : std::string_view{}; }
  std::size_t innermost() const { return open_.empty() ? kNone : open_.back().head; }
  bool is_open(Kind kind) const { return !open_.empty() && open_.back().kind == kind; }
  bool is_statement() const { return is_open(Kind::kBody) || is_open(Kind::kIf) || is_open(Kind::kDo); }

  bool step() {
    const std::string_view word = text(at_);
    if (word == "for" || word == "while") return loop();
    if (word == "do") {
      heads_.push_back({tokens_[at_].line, tokens_[at_].line, 0, innermost(), true});
      ++at_;
      open(Kind::kDo, heads_.size() - 1);
    } else if (word == "if" || word == "switch") {
      ++at_;
      while (at_ < tokens_.size() && text(at_) != "(" && text(at_) != "{" && text(at_) != ";") ++at_;
      if (text(at_) == "(" && !skip_parentheses()) return false;
      open(word == "if" ? Kind::kIf : Kind::kBody, innermost());
    } else if (word == "else") {
      ++at_;
      open(Kind::kBody, innermost());
    } else if (word == "(") {
      open_.push_back({Kind::kParenthesis, innermost(), false});
      ++at_;
    } else if (word == "{") {
      open_.push_back({Kind::kBrace, innermost(), false});
      ++at_;
    } else if (word == ")" || word == "}") {
      return close(word == ")" ? Kind::kParenthesis : Kind::kBrace);
    } else {
      ++at_;
      if (word == ";" && is_statement()) return end_statement();
    }
    return true;
  }

  bool loop() {
    const int line = tokens_[at_].line;
    if (text(at_ + 1) != "(") {
      ++at_;
      return true;
    }
    ++at_;
    if (!skip_parentheses()) return false;
    heads_.push_back({line, tokens_[at_ - 1].line, 0, innermost(), false});
    open(Kind::kBody, heads_.size() - 1);
    return true;
  }

  /// What comes next is a statement; its braces end it.
  void open(Kind kind, std::size_t head) {
    open_.push_back({kind, head, false});
    if (text(at_) != "{") return;
    open_.push_back({Kind::kBrace, head, true});
    ++at_;
  }

  bool close(Kind kind) {
    // A statement without its semicolon: a macro's, or an expression in parentheses.
    while (is_statement()) pop_statement();
    if (!is_open(kind)) return false;
    const bool ends = open_.back().ends_statement;
    open_.pop_back();
    ++at_;
    return !ends || end_statement();
  }

  /// Of the innermost one, and of those that it is the end of.
  bool end_statement() {
    while (is_statement()) {
      const Kind kind = open_.back().kind;
      if (kind == Kind::kDo && text(at_) == "while") {
        ++at_;
        if (text(at_) == "(" && !skip_parentheses()) return false;
        if (text(at_) == ";") ++at_;
      }
      pop_statement();
      if (kind == Kind::kIf && text(at_) == "else") return true;
    }
    return true;
  }

  void pop_statement() {
    const std::size_t head = open_.back().head;
    open_.pop_back();
    if (head != kNone && head != innermost()) heads_[head].end = tokens_[at_ - 1].line;
  }

  bool skip_parentheses() {
    std::size_t depth = 0;
    for (; at_ < tokens_.size(); ++at_) {
      if (text(at_) == "(") ++depth;
      if (text(at_) == ")" && --depth == 0) {
        ++at_;
        return true;
      }
    }
    return false;
  }

  std::vector<Token> tokens_;
  std::vector<Head>& heads_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
};

// ---- Fortran -------------------------------------------------------------------------------------------------------

struct FortranLine {
  std::string label;
  std::string text;  // lower case, without spaces, comments, strings and construct names
};

FortranLine fortran_line(std::string_view line, bool fixed) {
  FortranLine found;
  if (fixed && !line.empty() && std::string_view("cC*!dD").find(line[0]) != std::string_view::npos) return found;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '!') break;
    if (c == '"' || c == '\'') {
      quote = c;
      found.text += '"';
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      found.text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  std::size_t digits = 0;
  while (digits < found.text.size() && std::isdigit(static_cast<unsigned char>(found.text[digits])) != 0) ++digits;
  found.label = found.text.substr(0, digits);
  found.text.erase(0, digits);
  const std::size_t colon = found.text.find(':');
  if (colon != std::string::npos && colon > 0 && found.text.compare(colon + 1, 2, "do") == 0 &&
      std::all_of(found.text.begin(), found.text.begin() + static_cast<std::ptrdiff_t>(colon), is_word))
    found.text.erase(0, colon + 1);
  return found;
}

/// do, do while (..), do concurrent (..), do i = 1, n and do 10 i = 1, n; no assignment to `dot` or to `do_it`.
bool is_do(const std::string& text) {
  if (!text.starts_with("do")) return false;
  if (text == "do" || text.starts_with("dowhile(") || text.starts_with("doconcurrent(")) return true;
  std::size_t at = 2;
  while (at < text.size() && (is_word(text[at]) || text[at] == ',')) ++at;
  if (at >= text.size() || text[at] != '=') return false;
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')') --depth;
    if (text[at] == ',' && depth == 0) return true;
  }
  return false;
}

std::string label_of_do(const std::string& text) {
  std::size_t end = 2;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
  return text.substr(2, end - 2);
}

bool find_fortran(std::string_view text, bool fixed, std::vector<Head>& heads) {
  struct Open {
    std::size_t head = kNone;
    std::string label;
  };
  std::vector<Open> open;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const FortranLine line = fortran_line(text.substr(at, end - at), fixed);
    at = end + 1;
    ++number;
    if (is_do(line.text)) {
      heads.push_back({number, number, number, open.empty() ? kNone : open.back().head, false});
      if (line.text.find(";enddo") == std::string::npos) open.push_back({heads.size() - 1, label_of_do(line.text)});
    } else if (line.text.starts_with("enddo")) {
      if (open.empty()) return false;
      heads[open.back().head].end = number;
      open.pop_back();
    } else if (!line.label.empty()) {
      for (; !open.empty() && open.back().label == line.label; open.pop_back()) heads[open.back().head].end = number;
    } else if ((line.text == "end" || line.text.starts_with("endsubroutine") || line.text.starts_with("endfunction") ||
                line.text.starts_with("endprogram")) &&
               !open.empty()) {
      return false;
    }
  }
  return true;
}

}  // namespace

LoopHeads::LoopHeads(std::string_view text, Language language) {
  const bool whole = language == Language::kC
                         ? Nesting(Tokens(text).take(), heads_).run()
                         : find_fortran(text, false, heads_) || (heads_.clear(), find_fortran(text, true, heads_));
  if (!whole) heads_.clear();
}

std::optional<LoopHeads::Language> LoopHeads::language_of(std::string_view file) {
  const std::size_t dot = file.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  std::string ending(file.substr(dot + 1));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array kEndingsOfC = {"c", "cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "cu", "inl", "tcc"};
  constexpr std::array kEndingsOfFortran = {"f90", "f95", "f03", "f08", "f18", "f", "for", "ftn"};
  if (std::find(kEndingsOfC.begin(), kEndingsOfC.end(), ending) != kEndingsOfC.end()) return Language::kC;
  if (std::find(kEndingsOfFortran.begin(), kEndingsOfFortran.end(), ending) != kEndingsOfFortran.end())
    return Language::kFortran;
  return std::nullopt;
}

std::size_t LoopHeads::nested_in(int line) const {
  std::size_t most = 0;
  for (const Head& head : heads_) {
    std::size_t depth = 0;
    for (const Head* at = &head; at->has(line); at = &heads_[at->parent]) {
      ++depth;
      if (at->parent == kNone) break;
    }
    most = std::max(most, depth);
  }
  return most;
}

std::vector<int> LoopHeads::at(int line) const {
  std::vector<int> found;  // heads that begin later are further in
  for (const Head& head : heads_)
    if (head.first <= line && line <= head.end) found.push_back(head.first);
  return found;
}

std::optional<int> LoopHeads::around(int line, std::size_t out) const {
  const auto found = std::find_if(heads_.begin(), heads_.end(), [&](const Head& head) { return head.has(line); });
  if (found == heads_.end()) return std::nullopt;
  auto at = static_cast<std::size_t>(found - heads_.begin());
  for (; out > 0; --out) {
    at = heads_[at].parent;
    if (at == kNone) return std::nullopt;
  }
  return heads_[at].first;
}

bool LoopHeads::is_inside(int line, int loop) const {
  const auto found = std::find_if(heads_.begin(), heads_.end(), [&](const Head& head) { return head.has(loop); });
  return found != heads_.end() && found->first <= line && line <= found->end;
}

bool LoopHeads::is_same_head(int line, int other) const {
  return std::any_of(heads_.begin(), heads_.end(), [&](const Head& head) { return head.has(line) && head.has(other); });
}

}  // namespace loopfold::symbols
