// Does the program, or a library it links, carry split DWARF? Valgrind 3.19 aborts when it loads such a file.
#pragma once

#include <string>

#include "symbols/elf_file.h"

namespace loopfold::recorder {

/// The path of the first such file among the program and the libraries that the dynamic linker would find through
/// LD_LIBRARY_PATH or beside the program (its directory, ../lib); empty if there is none. The system's own libraries
/// are not searched: they are not built that way.
std::string find_split_dwarf(const std::string& path, const symbols::ElfFile& program);

}  // namespace loopfold::recorder
