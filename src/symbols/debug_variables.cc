// Finds the variables that DWARF places at an address, and says what it knows about one.
//
// From what: one pass over all DIEs (die_scanner.h) gives the variables whose location begins with an address; libdw
// reads their locations. Only an address, or an address plus a constant, is a fixed place; what goes on with anything
// else is a thread-local variable, a pointer to be followed or a value.
//
// A name is the linker's name, demangled, if it is a mangled one (in C it is only an alias). Static variables of functions
// often have none in the DWARF: then the symbol table's, if that is mangled, or "function::name". A Fortran module's
// variable is "module::name".
//
// Cost: about 20 ns for each DIE of the file, once; about a microsecond for each variable.
#include "symbols/debug_variables.h"

#include <dwarf.h>
#include <fmt/core.h>

#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <unordered_set>

#include "symbols/die_scanner.h"
#include "symbols/dwarf_units.h"
#include "symbols/references.h"
#include "symbols/type_text.h"

namespace loopfold::symbols {
namespace {

constexpr std::uint64_t kMaximalLine = std::numeric_limits<int>::max();

std::optional<std::uint64_t> fixed_address(Dwarf_Die& die) {
  Dwarf_Attribute location;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_attr(&die, DW_AT_location, &location) == nullptr) return std::nullopt;
  if (dwarf_getlocation(&location, &operations, &count) != 0 || count == 0 || count > 2) return std::nullopt;
  if (count == 2 && operations[1].atom != DW_OP_plus_uconst) return std::nullopt;
  std::uint64_t address = operations[0].number;
  if (operations[0].atom != DW_OP_addr) {
    Dwarf_Attribute indirect;
    if (dwarf_getlocation_attr(&location, operations, &indirect) != 0) return std::nullopt;
    if (dwarf_formaddr(&indirect, &address) != 0) return std::nullopt;
  }
  return address + (count == 2 ? operations[1].number : 0);
}

/// The type of a variable, or of the declaration that it completes.
std::optional<Dwarf_Die> type_of(const References& references, Dwarf_Die die) {
  for (int i = 0; i < kLongestOriginChain; ++i) {
    if (std::optional<Dwarf_Die> type = references.follow(die, DW_AT_type)) return type;
    const std::optional<Dwarf_Die> origin = references.origin(die);
    if (!origin) break;
    die = *origin;
  }
  return std::nullopt;
}

bool is_mangled(std::string_view name) { return name.starts_with("_Z") || name.starts_with("_R"); }

/// "m::x" for gfortran's "__m_MOD_x".
std::string fortran_name(std::string_view linkage_name) {
  const std::size_t at = linkage_name.find("_MOD_");
  if (!linkage_name.starts_with("__") || at == std::string_view::npos) return {};
  return fmt::format("{}::{}", linkage_name.substr(2, at - 2), linkage_name.substr(at + 5));
}

std::string name_of(const References& references, Dwarf* dwarf, Dwarf_Die die, const DebugVariable& variable,
                    std::string_view symbol_name) {
  for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    const char* name = references.text(die, kind);
    if (name == nullptr) continue;
    if (is_mangled(name)) return readable_name(name);
    if (std::string fortran = fortran_name(name); !fortran.empty()) return fortran;
  }
  if (is_mangled(symbol_name)) return readable_name(symbol_name);
  const char* raw_name = references.text(die, DW_AT_name);
  if (raw_name == nullptr) return readable_name(symbol_name);
  Dwarf_Die function;
  if (variable.is_part || variable.function == 0 || dwarf_offdie(dwarf, variable.function, &function) == nullptr) {
    return raw_name;
  }
  const std::string function_name = references.name_of(references.abstract_function(function));
  return function_name.empty() ? raw_name : fmt::format("{}::{}", function_name, raw_name);
}

/// By number, as DW_AT_decl_file has it. DWARF 5 counts from 0, which libdw's own function does not know.
std::string file_name(Dwarf_Die& die, std::uint64_t number) {
  Dwarf_Die unit;
  Dwarf_Half version = 0;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_cu_info(die.cu, &version, nullptr, &unit, nullptr, nullptr, nullptr, nullptr) != 0) return {};
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count || (number == 0 && version < 5)) return {};
  const char* path = dwarf_filesrc(files, number, nullptr, nullptr);
  return path != nullptr ? std::filesystem::path(path).lexically_normal().string() : std::string();
}

std::optional<std::uint64_t> number(const References& references, Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (!references.has(die, name, attribute) || dwarf_formudata(&attribute, &value) != 0) return std::nullopt;
  return value;
}

/// A definition that completes a declaration may leave out what is the same there.
void find_declaration(const References& references, Dwarf_Die die, DataSymbol& symbol) {
  for (int i = 0; i < kLongestOriginChain; ++i) {
    const std::optional<std::uint64_t> file = number(references, die, DW_AT_decl_file);
    const std::optional<std::uint64_t> line = number(references, die, DW_AT_decl_line);
    if (symbol.file.empty() && file) symbol.file = file_name(die, *file);
    if (symbol.line == 0 && line && *line <= kMaximalLine) symbol.line = static_cast<int>(*line);
    const std::optional<Dwarf_Die> origin = references.origin(die);
    if (!origin) return;
    die = *origin;
  }
}

}  // namespace

std::vector<DebugVariable> find_variables(Dwarf* dwarf, bool trusts_alternate) {
  const References references(trusts_alternate);
  const std::span<const unsigned char> info = info_section(dwarf);
  std::vector<DebugVariable> variables;
  std::unordered_set<std::uint64_t> known[2];
  for (const DwarfUnit& unit : read_units(dwarf, info.size())) {
    for (const ScannedVariable& scanned : scan_variables(info, unit.header)) {
      Dwarf_Die die;
      if (dwarf_offdie(dwarf, scanned.offset, &die) == nullptr) continue;
      const std::optional<std::uint64_t> address = fixed_address(die);
      if (!address || !known[scanned.is_part_of_common ? 1 : 0].insert(*address).second) continue;
      const std::optional<Dwarf_Die> type = type_of(references, die);
      variables.push_back({*address, type ? type_size(references, *type) : 0, scanned.offset, scanned.function,
                           scanned.is_part_of_common});
    }
  }
  return variables;
}

void describe_variable(Dwarf* dwarf, bool trusts_alternate, const DebugVariable& variable, std::string_view symbol_name,
                       DataSymbol& symbol) {
  Dwarf_Die die;
  if (dwarf_offdie(dwarf, variable.die, &die) == nullptr) return;
  const References references(trusts_alternate);
  symbol.name = name_of(references, dwarf, die, variable, symbol_name);
  if (const std::optional<Dwarf_Die> type = type_of(references, die)) symbol.type = type_text(references, *type);
  find_declaration(references, die, symbol);
}

}  // namespace loopfold::symbols
