// Reads a description line by line; the names of sizes are replaced by their values at once.
#include "description.h"

#include <fmt/format.h>

#include <fstream>
#include <regex>

namespace loopfold::oracle {

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Cut at the commas that are in no bracket.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '(') depth++;
    if (c == ']' || c == ')') depth--;
    if (c == ',' && depth == 0) {
      parts.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  return parts;
}

/// Reads one file. `failure_` is the first thing that was not understood.
class Parser {
 public:
  Parser(std::string file, const std::vector<long>& sizes) : given_(sizes) { into_.file = std::move(file); }

  Result<Description> parse(std::istream& stream) {
    std::string line;
    for (number_ = 1; std::getline(stream, line) && failure_.empty(); number_++) take(line);
    if (failure_.empty()) check_whole();
    if (!failure_.empty()) return fail(ErrorKind::kBadInput, fmt::format("{}: {}", into_.file, failure_));
    return into_;
  }

 private:
  void take(const std::string& line) {
    static const std::regex kStatic(R"(^// static: (.*)$)");
    static const std::regex kIrregular(R"(^// irregular: (.*)$)");
    static const std::regex kTag(R"(// (\w+):$)");
    std::smatch match;
    if (std::regex_match(line, match, kStatic)) {
      take_clause(trimmed(match[1]));
    } else if (std::regex_match(line, match, kIrregular)) {
      into_.irregular = true;
      take_clause(trimmed(match[1]));
    } else if (std::regex_search(line, match, kTag)) {
      if (!into_.tags.emplace(match[1], number_).second) complain("tag used twice", match[1]);
    }
  }

  void take_clause(const std::string& clause) {
    static const std::regex kClause(R"(^(sizes|order|reads|writes) (.*)$)");
    std::smatch match;
    if (!std::regex_match(clause, match, kClause)) return take_statement(clause);
    const std::string word = match[1];
    const std::string rest = match[2];
    if (word == "sizes") return take_sizes(rest);
    if (into_.statements.empty()) return complain("no statement before", clause);
    StaticStatement& statement = into_.statements.back();
    if (word == "order") return take_order(statement, rest);
    take_elements(word == "reads" ? statement.reads : statement.writes, with_values(rest));
  }

  void take_sizes(const std::string& text) {
    static const std::regex kSize(R"(^(\w+) = (\d+)$)");
    for (const std::string& part : split(text)) {
      std::smatch match;
      if (!std::regex_match(part, match, kSize)) return complain("not a size", part);
      const std::size_t index = into_.sizes.size();
      into_.sizes.emplace_back(match[1], index < given_.size() ? given_[index] : std::stol(match[2]));
    }
  }

  void take_statement(const std::string& clause) {
    static const std::regex kStatement(R"(^(\w+)\[([\w, ]*)\] :(.*)$)");
    std::smatch match;
    if (!std::regex_match(clause, match, kStatement)) return complain("not understood", clause);
    StaticStatement statement;
    statement.name = match[1];
    statement.counters = split(match[2]);
    statement.domain = with_values(trimmed(match[3]));
    into_.statements.push_back(std::move(statement));
  }

  void take_order(StaticStatement& statement, const std::string& text) {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') return complain("not an order", text);
    statement.order = split(with_values(text.substr(1, text.size() - 2)));
  }

  void take_elements(std::vector<ElementText>& into, const std::string& text) {
    const std::size_t colon = text.find(" : ");
    const std::string condition = colon == std::string::npos ? "" : text.substr(colon + 3);
    for (const std::string& element : split(text.substr(0, colon))) into.push_back({element, condition});
  }

  std::string with_values(std::string text) const {
    for (const auto& [name, value] : into_.sizes)
      text = std::regex_replace(text, std::regex("\\b" + name + "\\b"), std::to_string(value));
    return text;
  }

  void check_whole() {
    if (into_.sizes.empty()) return complain("no sizes", "");
    if (given_.size() > into_.sizes.size()) return complain("more sizes given than there are", "");
    if (into_.irregular != into_.statements.empty()) return complain("either static or irregular", "");
    for (StaticStatement& statement : into_.statements) {
      const auto tag = into_.tags.find(statement.name);
      if (tag == into_.tags.end()) return complain("no line has the tag of", statement.name);
      if (statement.order.empty()) return complain("no order for", statement.name);
      statement.line = tag->second;
    }
  }

  void complain(const std::string& what, const std::string& where) {
    if (failure_.empty()) failure_ = fmt::format("line {}: {} '{}'", number_, what, where);
  }

  const std::vector<long>& given_;
  Description into_;
  int number_ = 0;
  std::string failure_;
};

}  // namespace

std::string StaticStatement::tuple() const { return fmt::format("{}[{}]", name, fmt::join(counters, ", ")); }

const StaticStatement* Description::at_line(int line) const {
  for (const StaticStatement& statement : statements)
    if (statement.line == line) return &statement;
  return nullptr;
}

Result<Description> read_description(const std::string& path, const std::vector<long>& sizes) {
  std::ifstream stream(path);
  if (!stream) return fail(ErrorKind::kBadInput, fmt::format("{}: cannot be read", path));
  return Parser(path.substr(path.rfind('/') + 1), sizes).parse(stream);
}

}  // namespace loopfold::oracle
