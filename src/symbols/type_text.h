// Types of variables as a person would write them, from DWARF. Internal to src/symbols.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>

#include "symbols/references.h"

namespace loopfold::symbols {

/// "double[300][120]", "struct point*", "int(*)(double)", "std::vector<int>"; in Fortran "real(kind=8)(300,120)", in
/// Rust "[f64; 300]". Without const and volatile, with the names of typedefs. `type` is the DIE of the type.
std::string type_text(const References& references, Dwarf_Die type);

/// Bytes of a value; 0 if unknown or not fixed.
std::uint64_t type_size(const References& references, Dwarf_Die type);

}  // namespace loopfold::symbols
