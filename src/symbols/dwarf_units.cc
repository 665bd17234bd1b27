// Lists units from header to header, as libdw reads them. Cost: one visit to each unit's first DIE.
#include "symbols/dwarf_units.h"

#include <dwarf.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <string_view>

namespace loopfold::symbols {

namespace {

/// `plain`, or `packed` if an old compiler compressed it.
std::span<const unsigned char> section_of(Dwarf* dwarf, std::string_view plain, std::string_view packed) {
  Elf* elf = dwarf_getelf(dwarf);
  std::size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return {};
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* raw_name = elf_strptr(elf, names, header.sh_name);
    const std::string_view name = raw_name != nullptr ? raw_name : "";
    if (name != plain && name != packed) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    return {static_cast<const unsigned char*>(data->d_buf), data->d_size};
  }
  return {};
}

}  // namespace

std::span<const unsigned char> info_section(Dwarf* dwarf) { return section_of(dwarf, ".debug_info", ".zdebug_info"); }

std::span<const unsigned char> abbreviation_section(Dwarf* dwarf) {
  return section_of(dwarf, ".debug_abbrev", ".zdebug_abbrev");
}

std::vector<DwarfUnit> read_units(Dwarf* dwarf, std::uint64_t info_size) {
  std::vector<DwarfUnit> units;
  const std::span<const unsigned char> all_abbreviations = abbreviation_section(dwarf);
  Dwarf_Off next = 0;
  for (Dwarf_Off offset = 0;; offset = next) {
    std::size_t header_size = 0;
    Dwarf_Half version = 0;
    Dwarf_Off abbreviations = 0;
    std::uint8_t address_size = 0;
    std::uint8_t offset_size = 0;
    if (dwarf_next_unit(dwarf, offset, &next, &header_size, &version, &abbreviations, &address_size, &offset_size,
                        nullptr, nullptr) != 0) {
      break;
    }
    if (next <= offset || header_size == 0) break;
    DwarfUnit unit;
    unit.header = {
        offset, offset + header_size, std::min<std::uint64_t>(next, info_size), version, address_size, offset_size, {}};
    if (abbreviations < all_abbreviations.size()) unit.header.abbreviations = all_abbreviations.subspan(abbreviations);
    if (dwarf_offdie(dwarf, unit.header.first_die, &unit.die) == nullptr) continue;
    const int tag = dwarf_tag(&unit.die);
    if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit) units.push_back(unit);
  }
  return units;
}

}  // namespace loopfold::symbols
