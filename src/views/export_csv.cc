#include "views/export_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "profile/json.h"

namespace loopfold::views {

namespace {

using profile::Coefficient;
using profile::Profile;

/// Column and value, in order.
using Row = std::vector<std::pair<std::string_view, std::string>>;

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

std::string text(bool value) { return value ? "true" : "false"; }
std::string text(const std::optional<profile::Source>& source) {
  return source ? fmt::format("{}:{}", source->file, source->line) : "";
}
std::string text(const std::vector<profile::Source>& sources) {
  std::vector<std::string> parts;
  for (const profile::Source& source : sources) parts.push_back(text(std::optional(source)));
  return fmt::format("{}", fmt::join(parts, " "));
}
/// "libm.so.6+0x1234": an instruction of a statement's code.
std::string address(const Profile& profile, std::optional<std::uint32_t> statement, std::uint32_t instruction) {
  if (!statement || *statement >= profile.statements.size() || !profile.statements[*statement].code) return "";
  const profile::Code& code = profile.code[*profile.statements[*statement].code];
  if (code.module.empty() || instruction >= code.addresses.size()) return "";
  return fmt::format("{}+{:#x}", code.module, code.addresses[instruction]);
}
std::string text(const Coefficient& coefficient) { return coefficient ? std::to_string(*coefficient) : "*"; }
std::string text(const std::vector<Coefficient>& coefficients) {
  std::vector<std::string> parts;
  for (const Coefficient& coefficient : coefficients) parts.push_back(text(coefficient));
  return fmt::format("{}", fmt::join(parts, " "));
}

Row row_of(const Profile& profile, const profile::Statement& statement) {
  return {{"id", std::to_string(statement.id)},
          {"name", statement.name},
          {"kind", std::string(kind_name(statement.kind))},
          {"call", statement.call},
          {"node", std::to_string(statement.node)},
          {"function", statement.code ? profile.code[*statement.code].function : ""},
          {"source", text(statement.source)},
          {"instruction", address(profile, statement.id, 0)},
          {"count", std::to_string(statement.count)},
          {"instructions", std::to_string(statement.code ? profile.code[*statement.code].addresses.size() : 0)},
          {"ops", std::to_string(statement.ops)},
          {"edges", std::to_string(statement.edges)},
          {"exact", text(statement.exact)},
          {"pieces", std::to_string(statement.pieces)},
          {"domain", statement.domain}};
}

Row row_of(const Profile& profile, const profile::Access& access) {
  return {{"statement", std::to_string(access.statement)},
          {"kind", std::string(kind_name(access.kind))},
          {"size", std::to_string(access.size)},
          {"object", std::to_string(access.object)},
          {"source", text(access.source)},
          {"instruction", address(profile, access.statement, access.instruction)},
          {"count", std::to_string(access.count)},
          {"affine", text(access.affine)},
          {"exact", text(access.exact)},
          {"guarded", text(access.guarded)},
          {"coefficients", text(access.coefficients)},
          {"constant", text(access.constant)},
          {"block_coefficients", text(access.block_coefficients)},
          {"block_constant", text(access.block_constant)},
          {"minimum", text(access.minimum)},
          {"maximum", text(access.maximum)},
          {"domain", access.domain.value_or("")}};
}

Row row_of(const Profile& profile, const profile::Value& value) {
  return {{"statement", std::to_string(value.statement)},
          {"register", value.reg},
          {"source", text(value.source)},
          {"instruction", address(profile, value.statement, value.instruction)},
          {"count", std::to_string(value.count)},
          {"affine", text(value.affine)},
          {"exact", text(value.exact)},
          {"pieces", std::to_string(value.pieces)},
          {"coefficients", text(value.coefficients)}};
}

/// "hist+0x1234 -> hist+0x1238 register 0", and so on.
std::string uses(const Profile& profile, const profile::Dependence& dependence) {
  std::vector<std::string> parts;
  for (const profile::Use& use : dependence.uses) {
    const std::string lane = use.lane == 0 ? "" : fmt::format(" byte {}", use.lane);
    parts.push_back(fmt::format("{} -> {} {}{}{}", address(profile, dependence.from, use.from),
                                address(profile, dependence.to, use.to), use.operand, lane,
                                use.address ? " (address)" : ""));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

Row row_of(const Profile& profile, const profile::Dependence& dependence) {
  return {{"from", dependence.from ? std::to_string(*dependence.from) : ""},
          {"to", std::to_string(dependence.to)},
          {"kind", std::string(kind_name(dependence.kind))},
          {"source_from", text(dependence.source_from)},
          {"source_to", text(dependence.source_to)},
          {"uses", uses(profile, dependence)},
          {"object", dependence.object ? std::to_string(*dependence.object) : ""},
          {"count", std::to_string(dependence.count)},
          {"affine", text(dependence.affine)},
          {"exact", text(dependence.exact)},
          {"pieces", std::to_string(dependence.pieces)},
          {"distance", dependence.distance ? text(*dependence.distance) : ""},
          {"map", dependence.map}};
}

Row row_of(const Profile&, const profile::Object& object) {
  return {{"id", std::to_string(object.id)},
          {"name", object.name},
          {"kind", std::string(kind_name(object.kind))},
          {"type", object.type},
          {"size", std::to_string(object.size)},
          {"blocks", std::to_string(object.blocks)},
          {"source", text(object.source)}};
}

Row row_of(const Profile&, const profile::GaveUp& gave_up) {
  return {{"what", gave_up.what}, {"why", gave_up.why}, {"share", fmt::format("{:.6f}", gave_up.share)}};
}

template <typename T>
bool each_row(const Profile& profile, const std::vector<T>& elements, const std::function<bool(const Row&)>& take) {
  return std::all_of(elements.begin(), elements.end(),
                     [&](const T& element) { return take(row_of(profile, element)); });
}

struct Table {
  std::string name;
  Row empty;  // for the columns
  std::function<bool(const Profile&, const std::function<bool(const Row&)>&)> rows;
};

template <typename T>
Table table(const char* name, std::vector<T> Profile::*elements) {
  return {name, row_of(Profile{}, T{}),
          [elements](const Profile& profile, const std::function<bool(const Row&)>& take) {
            return each_row(profile, profile.*elements, take);
          }};
}

const std::vector<Table>& tables() {
  static const std::vector<Table> kTables = {
      table("statements", &Profile::statements), table("accesses", &Profile::accesses),
      table("values", &Profile::values),         table("dependences", &Profile::dependences),
      table("objects", &Profile::objects),       table("gave_up", &Profile::gave_up)};
  return kTables;
}

bool write_line(const std::vector<std::string>& fields, const Writer& writer) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); i++) line += (i == 0 ? "" : ",") + quoted(fields[i]);
  return writer(line + "\n");
}

}  // namespace

const std::vector<std::string>& csv_tables() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Table& table : tables()) names.push_back(table.name);
    return names;
  }();
  return kNames;
}

bool write_csv(const Profile& profile, const Writer& writer) {
  std::vector<std::string> columns = {"table"};
  for (const Table& table : tables())
    for (const auto& [column, value] : table.empty)
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.emplace_back(column);
  bool good = write_line(columns, writer);
  for (const Table& table : tables()) {
    good = good && table.rows(profile, [&](const Row& row) {
      std::vector<std::string> fields(columns.size());
      fields.front() = table.name;
      for (const auto& [column, value] : row)
        fields[static_cast<std::size_t>(std::find(columns.begin(), columns.end(), column) - columns.begin())] = value;
      return write_line(fields, writer);
    });
  }
  return good;
}

bool write_csv_table(const Profile& profile, std::string_view name, const Writer& writer) {
  const auto named = [&](const Table& table) { return table.name == name; };
  const auto table = std::find_if(tables().begin(), tables().end(), named);
  if (table == tables().end()) return false;
  std::vector<std::string> columns;
  for (const auto& [column, value] : table->empty) columns.emplace_back(column);
  return write_line(columns, writer) && table->rows(profile, [&](const Row& row) {
    std::vector<std::string> fields;
    for (const auto& [column, value] : row) fields.push_back(value);
    return write_line(fields, writer);
  });
}

}  // namespace loopfold::views
