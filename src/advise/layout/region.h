// The region of a directive: which statements it covers, where its arrays are used there, and what stands in the way.
//
// A directive covers the statement behind it (a loop or a block), or, between `#pragma scop` and `#pragma endscop`,
// everything up to the latter. Inside, each use of an array must be an element with all its subscripts, A[i][j]: that
// can become _A(i, j). Everything else that may touch the array's memory, or leave the region before it is copied
// back, is refused, with its place:
//
//   - the array as a whole, a row of it or an element's address: passed on, assigned, computed with;
//   - another pointer that is made from the array (or the array from it) in this function, used in the region;
//   - calls of functions that are not known to leave the array alone: those of the C library that only compute or
//   print,
//     and functions of the same file that (with all that they call) do not name the array, are;
//   - return, goto, break and continue that leave the region, labels that are reached from outside, assembly;
//   - an array that is only copied in and is written;
//   - uses that come from a macro's body, or in a pragma;
//   - subscripts with side effects where the new layout computes with them more than once.
//
// What cannot be seen in one function is assumed, and said (docs/layout.md): arrays of a directive do not overlap each
// other, nor what other pointers of the region lead to.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/layout/directive.h"
#include "advise/layout/source.h"
#include "support/result.h"

namespace loopfold::layout {

struct Region {
  const Syntax* function = nullptr;
  std::size_t begin = 0;          // past the directive
  std::size_t end = 0;            // past the region's last byte
  const Syntax* block = nullptr;  // what its statements are directly in: its own block, or that around a scop
  bool is_scop = false;           // ends at `#pragma endscop`
  bool is_block = false;          // the statement is a block; `block` is it
};

Result<Region> find_region(const Source& source, const ScannedSource& scanned, const Directive& directive,
                           std::string_view text);

/// One use of an array, byte for byte.
struct Reference {
  std::size_t array = 0;  // which of the arrays asked for
  std::size_t name = 0;   // offset of the array's name
  std::size_t name_length = 0;
  struct Subscript {
    std::size_t open = 0;  // of the brackets
    std::size_t close = 0;
  };
  std::vector<Subscript> subscripts;
  std::size_t end = 0;  // past the last bracket, or past the field
  bool written = false;
  bool read = true;                // unless it is the left side of a plain assignment, as a whole
  std::vector<bool> side_effects;  // of each subscript
};

/// What may not be moved, and why: "C: passed to f", at an offset.
struct Obstacle {
  std::size_t offset = 0;
  std::string why;
};

struct RegionArray {
  std::string label;  // for people
  std::string name;
  std::string field;
  std::string declaration;
  std::size_t dimensions = 0;
  std::size_t at = 0;  // offset of its name in the directive
};

struct RegionUses {
  std::vector<Reference> references;
  std::vector<Obstacle> obstacles;
};

RegionUses find_uses(const Source& source, const ScannedSource& scanned, const Region& region,
                     const std::vector<RegionArray>& arrays, std::string_view text);

/// Whether the directive stands directly among the region's statements.
bool at_top_level(const Region& region, std::size_t offset);

}  // namespace loopfold::layout
