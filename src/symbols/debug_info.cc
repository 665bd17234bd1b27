// Answers "which line, which functions" for addresses, many of them, from DWARF 2 to 5.
//
// From what: libdw reads units, line tables, range lists, strings and references (into other units, type units and the
// alternate file that dwz made included). On top of it there is one index for the file, the ranges of all units, and
// two for each unit that an address fell into: its line table's rows by address, and the ranges of its scopes, i.e.
// functions and inlined functions. libdw's own search for scopes walks a unit's tree for each question.
//
// An address's row is the last one of the table that starts at or before it. Its scopes are the innermost range that
// holds it and what encloses that in the tree. A function's name is taken from the DIE that stands for all its
// instances (DW_AT_abstract_origin, followed to the end); that DIE is also what makes two inlined copies the same
// function.
//
// Cost: opening, a visit to each unit's first DIE; per unit asked about, a pass over its DIEs and line table; then
// binary searches. Names are read and demangled when first asked for. Exactness: as exact as the tables. Not read: .dwo
// files. Damaged DWARF gives less or wrong names; every structure here is bounded by the size of the file.
#include "symbols/debug_info.h"

#include <dwarf.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "symbols/dwarf_units.h"
#include "symbols/references.h"

namespace loopfold::symbols {
namespace {

constexpr std::size_t kDeepestInlining = 1 << 10;

int small_number(Dwarf_Die& die, unsigned attribute_name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, attribute_name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) return 0;
  return static_cast<int>(std::min<Dwarf_Word>(value, std::numeric_limits<int>::max()));
}

void add_ranges(Dwarf_Die& die, std::uint32_t value, IntervalIndex<std::uint32_t>& index) {
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0;) index.add(low, high, value);
}

}  // namespace

struct DebugInfo::Row {
  std::uint64_t address = 0;
  std::uint32_t file = 0;
  std::int32_t line = 0;
  std::int32_t column = 0;
  bool ends_sequence = false;
};

struct DebugInfo::LoadedScope {
  std::uint64_t die = 0;
  std::uint64_t entry = 0;
  std::int32_t parent = ScannedScope::kNoParent;
  std::int32_t call_file = 0;
  std::int32_t call_line = 0;
  std::int32_t call_column = 0;
  bool is_inlined = false;
  const Function* function = nullptr;  // null until asked for
};

struct DebugInfo::Unit {
  UnitHeader header;
  Dwarf_Die die{};
  bool has_lines = false;
  bool has_scopes = false;
  Dwarf_Files* files = nullptr;
  std::size_t file_count = 0;
  std::vector<std::optional<std::string_view>> file_names;
  std::vector<Row> rows;
  std::vector<LoadedScope> scopes;
  IntervalIndex<std::uint32_t> scope_ranges;
};

DebugInfo::DebugInfo(Dwarf* dwarf, bool trusts_alternate)
    : dwarf_(dwarf), trusts_alternate_(trusts_alternate), info_(info_section(dwarf)) {
  index_units();
}
DebugInfo::~DebugInfo() = default;

void DebugInfo::index_units() {
  for (const DwarfUnit& read : read_units(dwarf_, info_.size())) {
    units_.push_back(std::make_unique<Unit>());
    units_.back()->header = read.header;
    units_.back()->die = read.die;
  }
  // Of several copies of an inline function the linker keeps the first one's code, and lets others that are as long
  // claim it. Of equal ranges the index prefers the last one.
  for (std::size_t i = units_.size(); i-- > 0;) add_ranges(units_[i]->die, static_cast<std::uint32_t>(i), unit_ranges_);
  unit_ranges_.build();
}

DebugInfo::Unit* DebugInfo::unit_at(std::uint64_t address) {
  const auto* found = unit_ranges_.find(address);
  return found != nullptr ? units_[found->value].get() : nullptr;
}

void DebugInfo::load_lines(Unit& unit) {
  unit.has_lines = true;
  if (dwarf_getsrcfiles(&unit.die, &unit.files, &unit.file_count) != 0) unit.file_count = 0;
  unit.file_names.resize(unit.file_count);
  Dwarf_Lines* lines = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrclines(&unit.die, &lines, &count) != 0) return;
  unit.rows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Dwarf_Line* line = dwarf_onesrcline(lines, i);
    Row row;
    Dwarf_Addr address = 0;
    Dwarf_Files* files = nullptr;
    std::size_t file = 0;
    if (line == nullptr || dwarf_lineaddr(line, &address) != 0) continue;
    row.address = address;
    if (dwarf_lineno(line, &row.line) != 0) row.line = 0;
    if (dwarf_linecol(line, &row.column) != 0) row.column = 0;
    if (dwarf_line_file(line, &files, &file) != 0) file = unit.file_count;
    row.file = static_cast<std::uint32_t>(file);
    if (dwarf_lineendsequence(line, &row.ends_sequence) != 0) row.ends_sequence = false;
    unit.rows.push_back(row);
  }
  const auto by_address = [](const Row& a, const Row& b) { return a.address < b.address; };
  if (!std::is_sorted(unit.rows.begin(), unit.rows.end(), by_address)) {
    std::stable_sort(unit.rows.begin(), unit.rows.end(), by_address);
  }
}

void DebugInfo::load_scopes(Unit& unit) {
  unit.has_scopes = true;
  for (const ScannedScope& scanned : scan_scopes(info_, unit.header)) {
    LoadedScope scope;
    scope.die = scanned.offset;
    scope.parent = scanned.parent;
    scope.is_inlined = scanned.is_inlined;
    const auto index = static_cast<std::uint32_t>(unit.scopes.size());
    Dwarf_Die die;
    if (dwarf_offdie(dwarf_, scanned.offset, &die) != nullptr) {
      add_ranges(die, index, unit.scope_ranges);
      if (scope.is_inlined) {
        scope.call_file = small_number(die, DW_AT_call_file);
        scope.call_line = small_number(die, DW_AT_call_line);
        scope.call_column = small_number(die, DW_AT_call_column);
      } else if (dwarf_entrypc(&die, &scope.entry) != 0) {
        scope.entry = 0;
      }
    }
    unit.scopes.push_back(scope);
  }
  unit.scope_ranges.build();
}

/// Paths are shared: few files have many rows and calls.
std::string_view DebugInfo::file_name(Unit& unit, std::size_t index) {
  if (index >= unit.file_names.size()) return {};
  if (unit.file_names[index]) return *unit.file_names[index];
  const char* raw = dwarf_filesrc(unit.files, index, nullptr, nullptr);
  std::string path = raw != nullptr ? std::filesystem::path(raw).lexically_normal().string() : std::string();
  unit.file_names[index] = *paths_.insert(std::move(path)).first;
  return *unit.file_names[index];
}

void DebugInfo::name_scope(LoadedScope& scope) {
  static const Function kUnknown;
  scope.function = &kUnknown;
  Dwarf_Die die;
  if (dwarf_offdie(dwarf_, scope.die, &die) == nullptr) return;
  const References references(trusts_alternate_);
  const Dwarf_Die abstract = references.abstract_function(die);
  const auto [place, is_new] = functions_.try_emplace(abstract.addr);
  if (is_new) {
    names_.push_back(references.name_of(abstract));
    place->second.name = names_.back();
    place->second.id = functions_.size();
  }
  scope.function = &place->second;
}

DebugInfo::Position DebugInfo::position_of(Unit& unit, std::uint64_t address) {
  if (!unit.has_lines) load_lines(unit);
  const auto after = std::upper_bound(unit.rows.begin(), unit.rows.end(), address,
                                      [](std::uint64_t value, const Row& row) { return value < row.address; });
  if (after == unit.rows.begin() || std::prev(after)->ends_sequence) return {};
  const Row& row = *std::prev(after);
  const std::string_view file = file_name(unit, row.file);
  return file.empty() ? Position{} : Position{file, row.line, row.column};
}

void DebugInfo::add_scopes(Unit& unit, std::uint64_t address, std::vector<Scope>& scopes) {
  if (!unit.has_scopes) load_scopes(unit);
  const auto* found = unit.scope_ranges.find(address);
  std::int32_t index = found != nullptr ? static_cast<std::int32_t>(found->value) : ScannedScope::kNoParent;
  while (index != ScannedScope::kNoParent && scopes.size() < kDeepestInlining) {
    LoadedScope& loaded = unit.scopes[static_cast<std::size_t>(index)];
    if (loaded.function == nullptr) name_scope(loaded);
    Scope scope;
    scope.function = loaded.function->name;
    scope.function_id = loaded.function->id;
    scope.die = loaded.die;
    scope.entry = loaded.entry;
    scope.is_inlined = loaded.is_inlined;
    if (loaded.is_inlined) {
      if (!unit.has_lines) load_lines(unit);
      scope.call = {file_name(unit, static_cast<std::size_t>(loaded.call_file)), loaded.call_line, loaded.call_column};
    }
    scopes.push_back(scope);
    index = loaded.parent;
  }
}

const DebugInfo::Found* DebugInfo::find(std::uint64_t address) {
  Unit* unit = unit_at(address);
  if (unit == nullptr) return nullptr;
  found_.position = position_of(*unit, address);
  Dwarf_Attribute directory;
  const char* const name = dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &directory));
  found_.directory = name != nullptr ? std::string_view(name) : std::string_view();
  found_.scopes.clear();
  add_scopes(*unit, address, found_.scopes);
  return &found_;
}

}  // namespace loopfold::symbols
