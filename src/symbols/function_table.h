// The functions of one ELF file: where each starts and ends, and what its code is called. All addresses are the file's.
// Internal to src/symbols.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "symbols/interval_index.h"
#include "symbols/plt.h"
#include "symbols/unwind_table.h"

namespace loopfold::symbols {

/// One symbol of .symtab or .dynsym that may name code.
struct ElfSymbol {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  const char* name = "";     // mangled
  bool is_function = false;  // STT_FUNC or STT_GNU_IFUNC, otherwise a label
  bool is_global = false;
  std::uint32_t source_file = 0;  // local symbols of one source file have the same number
};

/// A stretch of addresses that holds code.
struct CodeSection {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// Executable sections, by address.
std::vector<CodeSection> read_code_sections(Elf* elf);

class FunctionTable {
 public:
  struct Function {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t owner = 0;  // start of the function that this is a part of; its own start if it is whole
  };
  struct Name {
    std::string_view name;    // mangled
    std::uint64_t start = 0;  // what offsets count from
    bool covers = false;      // the symbol has a size and the address lies inside; otherwise it is a label before it
    bool is_stub = false;     // of the function that a PLT stub leads to
  };

  FunctionTable(std::vector<ElfSymbol> symbols, std::span<const UnwindRange> unwind, std::vector<CodeSection> sections,
                Plt plt);

  std::optional<Function> find(std::uint64_t address) const;
  bool is_start(std::uint64_t address) const { return starts_.contains(address); }
  bool in_plt(std::uint64_t address) const;
  std::optional<Name> name(std::uint64_t address) const;

 private:
  void index_symbols();
  void index_functions(std::span<const UnwindRange> unwind);
  void add_function(std::uint64_t start, std::uint64_t end, std::uint64_t owner);
  std::uint64_t owner_of(const ElfSymbol& cold_part) const;
  const CodeSection* section_of(std::uint64_t address) const;
  std::uint64_t end_of_unsized(std::uint64_t start, std::span<const std::uint64_t> starts) const;

  std::vector<ElfSymbol> symbols_;
  std::vector<CodeSection> sections_;
  Plt plt_;
  std::unordered_map<std::uint64_t, const char*> preferred_names_;  // of symbols with a size, by address
  IntervalIndex<std::uint32_t> named_;                              // symbols with a size
  std::vector<std::uint32_t> labels_;                               // symbols without, by address
  std::unordered_multimap<std::string_view, std::uint32_t> by_name_;
  std::vector<Function> functions_;
  IntervalIndex<std::uint32_t> ranges_;  // of functions_
  std::unordered_set<std::uint64_t> starts_;
};

}  // namespace loopfold::symbols
