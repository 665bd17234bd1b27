// The units of a file's DWARF, and the bytes that they are in. Internal to src/symbols.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <span>
#include <vector>

#include "symbols/die_scanner.h"

namespace loopfold::symbols {

struct DwarfUnit {
  UnitHeader header;
  Dwarf_Die die{};
};

/// The bytes of .debug_info, and of .debug_abbrev. libdw has decompressed them, in place, when it opened the file.
std::span<const unsigned char> info_section(Dwarf* dwarf);
std::span<const unsigned char> abbreviation_section(Dwarf* dwarf);

/// The units that describe code and data, in order: not those of types, nor parts that others import. `info_size` is
/// the size of .debug_info. Damage ends the list early.
std::vector<DwarfUnit> read_units(Dwarf* dwarf, std::uint64_t info_size);

}  // namespace loopfold::symbols
