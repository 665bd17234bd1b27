// Finds the DIEs of functions and inlined functions that have code, and of variables that may have a fixed address, in
// one pass over a unit. Internal to src/symbols.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loopfold::symbols {

/// One unit of .debug_info, as its header describes it.
struct UnitHeader {
  std::uint64_t offset = 0;     // of the header
  std::uint64_t first_die = 0;  // offset of the unit's own DIE
  std::uint64_t end = 0;
  std::uint16_t version = 0;
  std::uint8_t address_size = 0;
  std::uint8_t offset_size = 0;
  std::span<const unsigned char> abbreviations;  // .debug_abbrev from the unit's own on
};

struct ScannedScope {
  static constexpr std::int32_t kNoParent = -1;
  std::uint64_t offset = 0;         // of the DIE in .debug_info
  std::int32_t parent = kNoParent;  // index of the scope that an inlined function was inlined into; none for a function
  bool is_inlined = false;
};

/// The scopes of a unit in the order of their DIEs, so that parents come first. `info` is all of
/// .debug_info. Damage ends the list early.
std::vector<ScannedScope> scan_scopes(std::span<const unsigned char> info, const UnitHeader& header);

struct ScannedVariable {
  std::uint64_t offset = 0;        // of the DIE in .debug_info
  std::uint64_t function = 0;      // offset of the DIE of the function, or inlined function, around it; 0 if none
  bool is_part_of_common = false;  // of a Fortran common block
};

/// The variables of a unit whose location begins with an address, in the order of their DIEs. Damage ends the list
/// early.
std::vector<ScannedVariable> scan_variables(std::span<const unsigned char> info, const UnitHeader& header);

}  // namespace loopfold::symbols
