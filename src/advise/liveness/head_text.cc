#include "advise/liveness/head_text.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "symbols/loop_heads.h"

namespace loopfold::advise::liveness {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return made;
}

std::string_view without_spaces(std::string_view text, bool front) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(front ? text.front() : text.back())) != 0)
    front ? text.remove_prefix(1) : text.remove_suffix(1);
  return text;
}

/// Of lines with the head of a loop of C or C++: what is in its parentheses. The body may stand behind it.
std::string in_parentheses(const std::string& lines) {
  std::size_t at = std::string::npos;
  for (const std::string_view keyword : {"for", "while"}) {
    for (at = lines.find(keyword); at != std::string::npos; at = lines.find(keyword, at + 1)) {
      const std::size_t end = at + keyword.size();
      if ((at == 0 || !is_word(lines[at - 1])) && (end == lines.size() || !is_word(lines[end]))) break;
    }
    if (at != std::string::npos) break;
  }
  const std::size_t open = at != std::string::npos ? lines.find('(', at) : at;
  if (open == std::string::npos) return "";
  std::size_t end = open;
  for (int depth = 0; end < lines.size(); ++end) {
    depth += lines[end] == '(' ? 1 : lines[end] == ')' ? -1 : 0;
    if (depth == 0) break;
  }
  return lines.substr(open, end - open);
}

bool is_assigned(std::string_view behind, bool fortran) {
  if (behind.starts_with('=') && !behind.starts_with("==")) return true;
  if (fortran) return false;
  return behind.starts_with("++") || behind.starts_with("--") || behind.starts_with("+=") || behind.starts_with("-=");
}

}  // namespace

bool steps_in_head(std::string_view head, std::string_view variable, bool fortran) {
  const std::string text = fortran ? lower(head) : std::string(head);
  const std::string name = fortran ? lower(variable) : std::string(variable);
  if (name.empty()) return false;
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at > 0 && is_word(text[at - 1])) || (end < text.size() && is_word(text[end]))) continue;
    if (is_assigned(without_spaces(std::string_view(text).substr(end), true), fortran)) return true;
    const std::string_view before = without_spaces(std::string_view(text).substr(0, at), false);
    if (!fortran && (before.ends_with("++") || before.ends_with("--"))) return true;
  }
  return false;
}

const std::vector<HeadTexts::Head>& HeadTexts::heads_of(const std::string& path) {
  const auto [known, is_new] = known_.try_emplace(path);
  const std::optional<symbols::LoopHeads::Language> language = symbols::LoopHeads::language_of(path);
  if (!is_new || !language) return known->second;
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  std::vector<std::string> lines;
  std::istringstream reader(text.str());
  for (std::string line; std::getline(reader, line);) lines.push_back(std::move(line));
  const symbols::LoopHeads found(text.view(), *language);
  for (const symbols::LoopHeads::Head& head : found.heads()) {
    Head made{head.first, head.last, head.end, ""};
    for (int line = head.first; line <= head.last && line <= static_cast<int>(lines.size()); ++line)
      if (line > 0) made.text += lines[static_cast<std::size_t>(line - 1)] + "\n";
    if (*language != symbols::LoopHeads::Language::kFortran) made.text = in_parentheses(made.text);
    known->second.push_back(std::move(made));
  }
  return known->second;
}

HeadTexts::Role HeadTexts::role_of(const std::string& path, int line, std::string_view variable) {
  const bool fortran = symbols::LoopHeads::language_of(path) == symbols::LoopHeads::Language::kFortran;
  const std::vector<Head>& heads = heads_of(path);
  const auto is_of_line = [&](const Head& head) { return head.first <= line && line <= head.last; };
  if (std::count_if(heads.begin(), heads.end(), is_of_line) != 1) return Role::kNone;  // several: not known which
  const Head& own = *std::find_if(heads.begin(), heads.end(), is_of_line);
  if (steps_in_head(own.text, variable, fortran)) return Role::kOwn;
  const bool inner = std::any_of(heads.begin(), heads.end(), [&](const Head& head) {
    return head.first > own.last && head.first <= own.end && steps_in_head(head.text, variable, fortran);
  });
  return inner ? Role::kInner : Role::kNone;
}

}  // namespace loopfold::advise::liveness
