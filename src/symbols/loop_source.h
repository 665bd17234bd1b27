// The place in the source that a loop of machine code comes from: the line of its `for`, `while` or `do`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/symbolizer.h"

namespace loopfold::symbols {

/// A loop of machine code, in addresses of the run.
struct LoopAddresses {
  std::uint64_t header = 0;                   // first instruction of the header block
  std::vector<std::uint64_t> latch_branches;  // last instruction of each block that jumps back to the header
  std::vector<std::uint64_t> exit_branches;   // last instruction of each block that may leave the loop
  std::vector<std::uint64_t> instructions;    // first instruction of every block
};

struct LoopSource {
  std::string file;
  int line = 0;
  int column = 0;                    // 0 if unknown
  std::vector<std::string> inlined;  // functions between `function` and the loop, outermost first
  std::string function;              // that the code is in
  std::uint64_t scope = 0;           // instance of the function or inlined function that the loop is written in
  std::uint64_t function_id = 0;     // of that: the same for all its instances (see Frame)
  // Where the loop itself is written, by its instructions: differs from `file` and `line` if that is library code, or
  // if the line of its head is known otherwise.
  std::string own_file;
  int own_line = 0;
  int own_column = 0;
};

/// Nothing if no line is known for the loop.
std::optional<LoopSource> name_loop(Symbolizer& symbolizer, const LoopAddresses& loop);

/// Whether two loops of machine code are the same loop of the source: versions of one loop, or instances of one inlined
/// or cloned function in one unit of the program. Says no to some versions: clang gives a vectorised loop and what is
/// left of it other columns. Of loops that are not nested in each other, is_same_source_line is the better judge.
bool is_same_source_loop(const LoopSource& a, const LoopSource& b);

/// The same without columns: also true for nested loops that are written in one line.
bool is_same_source_line(const LoopSource& a, const LoopSource& b);

/// Whether a path belongs to a compiler's or the system's library, not to the user's program.
bool is_library_file(std::string_view path);

}  // namespace loopfold::symbols
