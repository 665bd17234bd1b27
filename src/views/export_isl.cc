#include "views/export_isl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "support/wide.h"
#include "views/words.h"

namespace loopfold::views {

namespace {

using profile::Coefficient;
using profile::Profile;

/// The disjuncts of isl text, without braces.
std::vector<std::string_view> disjuncts(std::string_view text) {
  const std::size_t open = text.find('{');
  const std::size_t close = text.rfind('}');
  std::vector<std::string_view> parts;
  if (open == std::string_view::npos || close == std::string_view::npos) return parts;
  text = text.substr(open + 1, close - open - 1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

/// One disjunct of a domain: "S1[i0, 3] : 0 <= i0" is the tuple, its coordinates (names or numbers) and the condition.
struct Disjunct {
  std::string_view tuple;
  std::vector<std::string> names;
  std::string_view condition;
};

Disjunct take_apart(std::string_view text) {
  Disjunct disjunct;
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos) return disjunct;
  disjunct.tuple = text.substr(0, close + 1);
  std::string name;
  for (const char c : text.substr(open + 1, close - open - 1)) {
    if (c == ',') disjunct.names.push_back(std::exchange(name, ""));
    if (c != ',' && c != ' ') name += c;
  }
  if (!name.empty()) disjunct.names.push_back(name);
  const std::size_t colon = text.find(':', close);
  if (colon != std::string_view::npos) disjunct.condition = text.substr(colon + 1);
  while (disjunct.condition.starts_with(' ')) disjunct.condition.remove_prefix(1);
  return disjunct;
}

/// "8i0 - i1 + 4".
std::string linear(const std::vector<Coefficient>& coefficients, std::int64_t constant,
                   const std::vector<std::string>& names) {
  std::string text;
  const auto add = [&](std::int64_t number, const std::string& name) {
    if (number == 0) return;
    const bool negative = number < 0;
    const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    const bool is_number = !name.empty() && !std::isalpha(static_cast<unsigned char>(name.front()));
    text += name.empty() || size != 1 || is_number ? std::to_string(size) : "";
    text += is_number ? fmt::format("*({})", name) : name;
  };
  for (std::size_t k = 0; k < coefficients.size() && k < names.size(); k++) add(coefficients[k].value_or(0), names[k]);
  add(constant, "");
  return text.empty() ? "0" : text;
}

/// A function of the iteration vector that may not be known, and then at least where its values are.
struct Label {
  const std::vector<Coefficient>& coefficients;
  Coefficient constant;
  std::int64_t divisor = 1;
  std::int64_t modulus = 0;
  Coefficient base;
  Coefficient minimum;
  Coefficient maximum;

  bool known(std::size_t coordinates) const {
    const auto there = [](const Coefficient& coefficient) { return coefficient.has_value(); };
    return constant && (modulus == 0 || base) && coefficients.size() == coordinates &&
           std::all_of(coefficients.begin(), coefficients.end(), there);
  }
};

/// What stands in the range for a label, "8i0" or a variable; conditions on the variable are added.
std::string term(const Label& label, const char* variable, const Disjunct& disjunct,
                 std::vector<std::string>& conditions) {
  if (label.known(disjunct.names.size())) {
    const std::string value = linear(label.coefficients, *label.constant, disjunct.names);
    if (label.modulus == 0 && label.divisor == 1) return value;
    const Wide divisor = label.divisor;
    const std::string multiple = label.divisor == 1 ? variable : fmt::format("{} {}", label.divisor, variable);
    if (label.modulus == 0)
      conditions.push_back(fmt::format("{} = {}", multiple, value));
    else
      conditions.push_back(fmt::format("{0} = {1} + (({2} - {1}) mod {3})", multiple, divisor * *label.base, value,
                                       divisor * label.modulus));
    return variable;
  }
  if (label.minimum && label.maximum)
    conditions.push_back(fmt::format("{} <= {} <= {}", *label.minimum, variable, *label.maximum));
  return variable;
}

std::string piece_map(std::string_view domain, std::uint32_t object, const Label& block, const Label& offset) {
  const Disjunct disjunct = take_apart(domain);
  std::vector<std::string> conditions;
  const std::string first = term(block, "block", disjunct, conditions);
  const std::string second = term(offset, "offset", disjunct, conditions);
  if (!disjunct.condition.empty()) {
    const bool joins = !conditions.empty() && disjunct.condition.find(" or ") != std::string_view::npos;
    conditions.push_back(joins ? fmt::format("({})", disjunct.condition) : std::string(disjunct.condition));
  }
  const std::string where = conditions.empty() ? "" : fmt::format(" : {}", fmt::join(conditions, " and "));
  return fmt::format("{} -> O{}[{}, {}]{}", disjunct.tuple, object, first, second, where);
}

std::vector<std::string> access_pieces(const Profile& profile, const profile::Access& access) {
  std::vector<std::string> maps;
  const auto add = [&](const std::string& domain, const Label& block, const Label& offset) {
    for (const std::string_view disjunct : disjuncts(domain))
      maps.push_back(piece_map(disjunct, access.object, block, offset));
  };
  for (const profile::AccessPiece& piece : access.pieces)
    add(piece.domain,
        {piece.block_coefficients, piece.block_constant, piece.block_divisor, piece.block_modulus, piece.block_base,
         access.block_minimum, access.block_maximum},
        {piece.coefficients, piece.constant, piece.divisor, piece.modulus, piece.base, access.minimum, access.maximum});
  if (access.pieces.empty())
    add(access.domain.value_or(profile.statements[access.statement].domain),
        {access.block_coefficients, access.block_constant, 1, 0, {}, access.block_minimum, access.block_maximum},
        {access.coefficients, access.constant, 1, 0, {}, access.minimum, access.maximum});
  return maps;
}

/// Writes definitions, element by element.
class IslWriter {
 public:
  IslWriter(const Profile& profile, const Writer& writer) : profile_(profile), words_(profile), writer_(writer) {}

  bool run() {
    put(fmt::format("# {}: folded by Loopfold, for this run. Objects are O<n>[block, offset in bytes].\n",
                    words_.command_line()));
    for (const profile::Object& object : profile_.objects) put(comment(object));
    define("Domain", [&] {
      for (const profile::Statement& statement : profile_.statements)
        element(comment(statement), disjuncts(statement.domain));
    });
    accesses("Read", profile::Access::Kind::kLoad);
    accesses("Write", profile::Access::Kind::kStore);
    dependences("Register", profile::Dependence::Kind::kRegister);
    dependences("Memory", profile::Dependence::Kind::kMemory);
    dependences("Control", profile::Dependence::Kind::kControl);
    dependences("Environment", profile::Dependence::Kind::kEnvironment);
    return good_;
  }

 private:
  void put(const std::string& text) { good_ = good_ && writer_(text); }

  void define(const char* name, const std::function<void()>& elements) {
    put(fmt::format("\n{} := {{", name));
    first_ = true;
    elements();
    put("\n};\n");
  }

  template <typename Text>
  void element(const std::string& comment, const std::vector<Text>& parts) {
    if (parts.empty()) return;
    put(fmt::format("{}\n  # {}", first_ ? "" : ";", comment));
    for (std::size_t i = 0; i < parts.size(); i++) put(fmt::format("{}\n  {}", i == 0 ? "" : ";", parts[i]));
    first_ = false;
  }

  void accesses(const char* name, profile::Access::Kind kind) {
    define(name, [&] {
      for (const profile::Access& access : profile_.accesses)
        if (access.kind == kind) element(comment(access), access_pieces(profile_, access));
    });
  }

  void dependences(const char* name, profile::Dependence::Kind kind) {
    define(name, [&] {
      for (const profile::Dependence& dependence : profile_.dependences)
        if (dependence.kind == kind) element(comment(dependence), disjuncts(dependence.map));
    });
  }

  std::string place(const std::optional<profile::Source>& source) const { return source ? words_.place(*source) : "?"; }

  std::string comment(const profile::Object& object) const {
    return fmt::format("# O{}: {}, {} blocks of up to {} bytes, {}\n", object.id, words_.text(object.name),
                       object.blocks, object.size, place(object.source));
  }

  std::string comment(const profile::Statement& statement) const {
    std::vector<std::string> lines;
    for (const profile::Source& source : statement.source) lines.push_back(words_.place(source));
    const std::string where = lines.empty() ? words_.text(statement.code ? profile_.code[*statement.code].function : "")
                                            : fmt::format("{}", fmt::join(lines, ", "));
    return fmt::format("{}: {}{}{}, {} times{}", statement.name, words_.text(statement.call),
                       statement.call.empty() ? "" : " at ", where, statement.count,
                       statement.exact ? "" : ", not exact");
  }

  std::string comment(const profile::Access& access) const {
    return fmt::format("{} bytes at {}, {} times{}", access.size, place(access.source), access.count,
                       access.exact ? "" : ", not exact");
  }

  std::string comment(const profile::Dependence& dependence) const {
    return fmt::format("{} -> {}, {} times{}", place(dependence.source_from), place(dependence.source_to),
                       dependence.count, dependence.exact ? "" : ", not exact");
  }

  const Profile& profile_;
  Words words_;
  const Writer& writer_;
  bool good_ = true;
  bool first_ = true;
};

}  // namespace

bool write_isl(const Profile& profile, const Writer& writer) { return IslWriter(profile, writer).run(); }

std::string access_map(const Profile& profile, const profile::Access& access) {
  const std::vector<std::string> pieces = access_pieces(profile, access);
  return pieces.empty() ? "{ }" : fmt::format("{{ {} }}", fmt::join(pieces, "; "));
}

}  // namespace loopfold::views
