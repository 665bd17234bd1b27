// Names for addresses of data: the variables and sections of the files of a program.
//
// A DataTable holds what one file says: its loaded segments, cut into pieces that each belong to one variable, or to
// none and one section. Variables are those that DWARF places at a fixed address and the data symbols of the symbol
// table, put together: where both name the same start, the name, type and line are DWARF's and the size is the
// symbol's (it knows about flexible array members). Of several symbols at one address one is chosen: global ones before
// weak before local ones, then the one with fewer underscores in front, the shorter, the first in the alphabet. Where
// variables lie in each other (Fortran's common blocks) the inner one has its bytes. Thread-local variables are at no
// fixed address and are left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loopfold::symbols {

/// A variable of the program. Lives as long as the Symbolizer.
struct DataSymbol {
  std::string name;         // demangled; a static variable of a C function f: "f::counter"
  std::uint64_t start = 0;  // address of the run
  std::uint64_t size = 0;   // bytes, not 0
  std::string type;         // as written in the source, roughly: "double[300][120]", "struct point*"; empty if unknown
  std::string file;         // of the declaration; empty if unknown
  int line = 0;
  std::string module;   // base name of the file
  std::string section;  // ".bss"
};

/// A section of a module's file that is loaded into memory, or a segment where the file has no section there ("data
/// segment"). Lives as long as the Symbolizer.
struct DataSection {
  std::string name;
  std::string module;
  std::uint64_t start = 0;  // address of the run
  std::uint64_t size = 0;
};

/// What is at an address, and the addresses around it for which the answer is the same.
struct DataPlace {
  const DataSymbol* symbol = nullptr;
  const DataSection* section = nullptr;  // null: in no module, and then there is no symbol either
  std::uint64_t start = 0;
  std::uint64_t last = 0;  // inclusive
};

// ---- Internal to src/symbols ------------------------------------------------------------------------------------

/// A symbol of the symbol table that names data.
struct ElfData {
  std::uint64_t address = 0;  // of the file
  std::uint64_t size = 0;
  std::string_view name;
  int rank = 0;  // of the binding: local 0, weak 1, global 2
};

/// A variable at a fixed address, as DWARF has it.
struct DebugVariable {
  std::uint64_t address = 0;
  std::uint64_t size = 0;      // of its type; 0 if unknown
  std::uint64_t die = 0;       // offset of its DIE
  std::uint64_t function = 0;  // offset of the DIE of the function that it is in, 0 if none
  bool is_part = false;        // of a common block, which has a symbol of its own
};

/// A section or segment of the file.
struct FileRange {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

class DataTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Variable {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::string_view name;        // of the symbol table; empty if it has none there
    std::uint32_t debug = kNone;  // index into the debug variables
  };
  struct Piece {
    std::uint64_t start = 0;
    std::uint64_t last = 0;
    std::uint32_t variable = kNone;
    std::uint32_t section = kNone;  // index into sections(), never kNone
  };

  /// `segments` are loaded; each stands for a section where there is none. Sections outside of them are ignored.
  DataTable(std::vector<FileRange> segments, std::vector<FileRange> sections, std::vector<ElfData> symbols,
            const std::vector<DebugVariable>& debug);

  /// Null outside of all segments.
  const Piece* find(std::uint64_t address) const;

  const Variable& variable(std::uint32_t index) const { return variables_[index]; }
  const FileRange& section(std::uint32_t index) const { return sections_[index]; }

 private:
  std::vector<FileRange> sections_;
  std::vector<Variable> variables_;
  std::vector<Piece> pieces_;  // by start, disjoint
};

}  // namespace loopfold::symbols
