// Variables at fixed addresses, from DWARF. All addresses are the debug file's. Internal to src/symbols.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <string_view>
#include <vector>

#include "symbols/data_symbols.h"

namespace loopfold::symbols {

/// All variables of the file that have one address for the whole run: globals, static members, static variables of
/// functions, the variables in common blocks; in the order of the DWARF, one per address (and one more if the first is
/// in a common block). `trusts_alternate` as in DebugInfo.
std::vector<DebugVariable> find_variables(Dwarf* dwarf, bool trusts_alternate);

/// Fills in name, type, file and line, as far as known. `symbol_name` is the name of the symbol table, or empty.
void describe_variable(Dwarf* dwarf, bool trusts_alternate, const DebugVariable& variable, std::string_view symbol_name,
                       DataSymbol& symbol);

}  // namespace loopfold::symbols
