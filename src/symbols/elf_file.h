// What an ELF file says about itself, as far as recording and symbolising need it.
//
// The recorder asks before it starts a program (can Valgrind run it at all?) and for every file that is mapped as code
// (which file is it, and what was added to its addresses?). Everything is read once, by value; nothing stays open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/result.h"

namespace loopfold::symbols {

struct ElfFile {
  enum class Type : std::uint8_t { kOther, kRelocatable, kExecutable, kShared, kCore };

  /// One PT_LOAD.
  struct Segment {
    std::uint64_t file_offset = 0;
    std::uint64_t address = 0;
    std::uint64_t file_size = 0;
    std::uint64_t memory_size = 0;
    bool executable = false;
    friend bool operator==(const Segment&, const Segment&) = default;
  };

  bool is_elf = false;    // starts with the ELF magic; if not, nothing below is set
  std::string damage;     // empty if the headers are whole, else why they could not be read; the rest is then partial
  bool is_64bit = false;  // class; x32 programs are 32-bit for machine x86-64
  std::uint16_t machine = 0;        // EM_*: 62 is x86-64
  Type type = Type::kOther;         // a position-independent program is kShared with an interpreter
  std::uint64_t entry = 0;          // unbiased; 0 if none
  std::string interpreter;          // of PT_INTERP, empty if statically linked or a plain shared library
  std::string build_id;             // lower-case hex, empty if none
  std::vector<Segment> segments;    // in the order of the program headers
  std::vector<std::string> needed;  // DT_NEEDED, in order
  bool has_symtab = false;          // false: stripped of .symtab (.dynsym may still be there)
  bool has_debug_info = false;      // has .debug_info, compressed or not
  bool split_dwarf = false;         // some unit keeps its DWARF in a .dwo file

  bool is_x86_64() const { return is_elf && is_64bit && machine == 62; }
  bool has_interpreter() const { return !interpreter.empty(); }

  /// The lowest address of a PT_LOAD, or nothing if there is none.
  std::optional<std::uint64_t> lowest_address() const;

  /// What was added to the file's addresses when its bytes from `mapping_file_offset` on were mapped at
  /// `mapping_start`. Exact if one PT_LOAD covers the offset's page. Two may share a page of the file: then the one
  /// whose executability is `executable` is meant (of several, the one that starts at the offset). Nothing if no
  /// PT_LOAD covers the page.
  std::optional<std::uint64_t> load_bias(std::uint64_t mapping_start, std::uint64_t mapping_file_offset,
                                         bool executable = true) const;
};

/// Reads the file at `path`. An error only if it cannot be opened or is not a regular file: whatever its contents are,
/// the answer is an ElfFile, if need be with is_elf = false or with `damage`.
Result<ElfFile> inspect_elf(const std::string& path);

}  // namespace loopfold::symbols
