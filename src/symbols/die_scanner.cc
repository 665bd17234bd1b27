// Walks all DIEs of a unit from the first to the last, without building the tree.
//
// Why not libdw's walk: it has no way to step to the next DIE in the file. Going from sibling to sibling parses all of
// a DIE's descendants again wherever the compiler left out DW_AT_sibling (clang, rustc), once for each level of the
// tree, and C++ has deep trees of types before a single function. Here a DIE is its abbreviation code and a sum of
// sizes. What the few interesting DIEs contain is then read by libdw at the offsets that this scan gives. Abbreviations
// are read here, too: libdw goes through all attributes before the one that it is asked for.
//
// A DIE is a scope if it is a subprogram or an inlined subroutine and has DW_AT_low_pc or DW_AT_ranges.
// Lexical blocks and whatever else lies between two scopes are passed through. A variable counts if its location is an
// expression that begins with an address or the index of one.
//
// Cost: about 20 ns for a DIE. Exactness: exact; an unknown form ends the scan, since its size is not known.
#include "symbols/die_scanner.h"

#include <dwarf.h>

#include <optional>
#include <utility>

#include "symbols/byte_reader.h"

namespace loopfold::symbols {
namespace {

constexpr std::uint64_t kMaximalCode = 1 << 20;
constexpr std::size_t kMaximalAttributes = 1 << 12;

/// What the scan needs of an abbreviation.
struct Abbreviation {
  bool is_known = false;
  bool has_children = false;
  bool is_scope = false;
  bool is_inlined = false;
  bool is_function = false;  // with code or without
  bool is_common_block = false;
  std::optional<std::size_t> location;  // of a variable with an expression: number of the attribute
  std::optional<std::uint32_t> size;    // of the attributes' values, if it is the same for all DIEs
  std::vector<std::uint16_t> forms;     // of the attributes
};

/// Size of a value of this form, nothing if it varies or the form is not known.
std::optional<std::uint32_t> fixed_size(unsigned form, const UnitHeader& unit) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sup8:
    case DW_FORM_ref_sig8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return unit.address_size;
    case DW_FORM_ref_addr:
      return unit.version <= 2 ? unit.address_size : unit.offset_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return unit.offset_size;
    default:
      return std::nullopt;
  }
}

/// Skips a value. False: the form is not known.
bool skip_value(ByteReader& reader, std::uint64_t form, const UnitHeader& unit) {
  for (;; form = reader.uleb()) {
    if (form > 0xffff) return false;
    if (const std::optional<std::uint32_t> size = fixed_size(static_cast<unsigned>(form), unit)) {
      reader.skip(*size);
      return true;
    }
    if (form != DW_FORM_indirect) break;
    if (reader.at_end()) return false;
  }
  switch (form) {
    case DW_FORM_block1:
      reader.skip(reader.read<std::uint8_t>());
      return true;
    case DW_FORM_block2:
      reader.skip(reader.read<std::uint16_t>());
      return true;
    case DW_FORM_block4:
      reader.skip(reader.read<std::uint32_t>());
      return true;
    case DW_FORM_block:
    case DW_FORM_exprloc:
      reader.skip(reader.uleb());
      return true;
    case DW_FORM_string:
      reader.string();
      return true;
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
      reader.uleb();
      return true;
    default:
      return false;
  }
}

bool is_expression(unsigned form) {
  return form == DW_FORM_exprloc || form == DW_FORM_block1 || form == DW_FORM_block2 || form == DW_FORM_block4 ||
         form == DW_FORM_block;
}

std::uint64_t read_length(ByteReader& reader, unsigned form) {
  switch (form) {
    case DW_FORM_block1:
      return reader.read<std::uint8_t>();
    case DW_FORM_block2:
      return reader.read<std::uint16_t>();
    case DW_FORM_block4:
      return reader.read<std::uint32_t>();
    default:
      return reader.uleb();
  }
}

/// The rest of an abbreviation, behind its code.
Abbreviation read_abbreviation(ByteReader& reader, const UnitHeader& unit) {
  Abbreviation result;
  const std::uint64_t tag = reader.uleb();
  result.has_children = reader.read<std::uint8_t>() != 0;
  result.is_inlined = tag == DW_TAG_inlined_subroutine;
  result.is_function = tag == DW_TAG_subprogram || result.is_inlined;
  result.is_common_block = tag == DW_TAG_common_block;
  result.size = 0;
  for (std::size_t i = 0; i < kMaximalAttributes; ++i) {
    const std::uint64_t name = reader.uleb();
    const auto form = static_cast<unsigned>(reader.uleb());
    if (name == 0 && form == 0) {
      result.is_known = reader.ok();
      break;
    }
    if (form == DW_FORM_implicit_const) reader.sleb();
    const bool has_code = name == DW_AT_low_pc || name == DW_AT_ranges;
    if (has_code && result.is_function) result.is_scope = true;
    if (tag == DW_TAG_variable && name == DW_AT_location && is_expression(form)) result.location = i;
    result.forms.push_back(static_cast<std::uint16_t>(form));
    const std::optional<std::uint32_t> size = fixed_size(form, unit);
    result.size = result.size && size ? std::optional(*result.size + *size) : std::nullopt;
  }
  return result;
}

/// By code.
std::vector<Abbreviation> read_abbreviations(const UnitHeader& unit) {
  std::vector<Abbreviation> table;
  for (ByteReader reader(unit.abbreviations);;) {
    const std::uint64_t code = reader.uleb();
    if (code == 0 || code > kMaximalCode) return table;
    Abbreviation abbreviation = read_abbreviation(reader, unit);
    if (!abbreviation.is_known) return table;
    if (code >= table.size()) table.resize(code + 1);
    table[code] = std::move(abbreviation);
  }
}

bool skip_attributes(ByteReader& reader, const Abbreviation& abbreviation, const UnitHeader& unit) {
  if (abbreviation.size) {
    reader.skip(*abbreviation.size);
    return true;
  }
  for (const std::uint16_t form : abbreviation.forms) {
    if (!skip_value(reader, form, unit)) return false;
  }
  return true;
}

/// Whether the location of a variable begins with an address. `reader` stands before the attributes.
bool has_address(ByteReader reader, const Abbreviation& abbreviation, const UnitHeader& unit) {
  for (std::size_t i = 0; i < *abbreviation.location; ++i) {
    if (!skip_value(reader, abbreviation.forms[i], unit)) return false;
  }
  if (read_length(reader, abbreviation.forms[*abbreviation.location]) == 0) return false;
  const unsigned operation = reader.read<std::uint8_t>();
  return reader.ok() && (operation == DW_OP_addr || operation == DW_OP_addrx || operation == DW_OP_GNU_addr_index);
}

/// Calls visit(offset, abbreviation, reader before the attributes, what the DIE is inside of) for every DIE of a unit;
/// its answer is what the DIE's children are inside of.
template <typename Inside, typename Visit>
void walk(std::span<const unsigned char> info, const UnitHeader& header, Inside current, Visit visit) {
  if (header.end > info.size() || header.first_die >= header.end) return;
  const std::vector<Abbreviation> abbreviations = read_abbreviations(header);
  ByteReader reader(info.first(header.end));
  reader.seek(header.first_die);
  std::vector<Inside> enclosing;  // for each open DIE, what its siblings are inside of
  while (reader.ok() && !reader.at_end()) {
    const std::size_t offset = reader.position();
    const std::uint64_t code = reader.uleb();
    if (code == 0) {
      if (enclosing.empty()) break;
      current = enclosing.back();
      enclosing.pop_back();
      continue;
    }
    if (code >= abbreviations.size() || !abbreviations[code].is_known) break;
    const Abbreviation& abbreviation = abbreviations[code];
    const ByteReader attributes = reader;
    if (!skip_attributes(reader, abbreviation, header) || !reader.ok()) break;
    const Inside inside = visit(offset, abbreviation, attributes, current);
    if (!abbreviation.has_children) continue;
    enclosing.push_back(current);
    current = inside;
  }
}

}  // namespace

std::vector<ScannedScope> scan_scopes(std::span<const unsigned char> info, const UnitHeader& header) {
  std::vector<ScannedScope> scopes;
  walk(info, header, ScannedScope::kNoParent,
       [&](std::size_t offset, const Abbreviation& abbreviation, const ByteReader&, std::int32_t scope) {
         if (!abbreviation.is_scope) return scope;
         scopes.push_back({offset, abbreviation.is_inlined ? scope : ScannedScope::kNoParent, abbreviation.is_inlined});
         return static_cast<std::int32_t>(scopes.size() - 1);
       });
  return scopes;
}

std::vector<ScannedVariable> scan_variables(std::span<const unsigned char> info, const UnitHeader& header) {
  std::vector<ScannedVariable> variables;
  walk(info, header, ScannedVariable(),
       [&](std::size_t offset, const Abbreviation& abbreviation, const ByteReader& attributes, ScannedVariable around) {
         if (abbreviation.is_function) return ScannedVariable{0, offset, false};
         if (abbreviation.is_common_block) around.is_part_of_common = true;
         if (abbreviation.location && has_address(attributes, abbreviation, header)) {
           variables.push_back({offset, around.function, around.is_part_of_common});
         }
         return around;
       });
  return variables;
}

}  // namespace loopfold::symbols
