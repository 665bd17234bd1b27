// The directive `#pragma layout`: where it stands in a source file, and what it says.
//
//     #pragma layout map(inout: C(e1,e2) -> (0, e1, e2) : double[ni, nj])   (and a backslash)
//                    map(in: A(e1,e2) -> (1, e2, 0, e1) : double[ni, nk])
//
// Each map clause moves one array: how its elements get there and back (in, out, inout; redist at a later point of the
// region: from the layout before to a new one), where each element goes (a quasi-affine map, in iscc's syntax, with
// round or square brackets), and what it is: element type and sizes, affine in names of the program. `P.x` names one
// field of an array of structures. `pad(C: 0, 0, 8)` leaves so many unused cells behind each dimension of C's map.
//
// scan_source() finds the directives of a file without understanding C beyond comments, literals and continued lines
// (what the file means is libclang's business: source.h), and parses them. An error names file, line and column, what
// was expected and what stands there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "advise/layout/quasi_affine.h"
#include "support/result.h"

namespace loopfold::layout {

enum class Transfer { kIn, kOut, kInOut, kRedistribute };

/// "in", "out", "inout", "redist".
std::string_view transfer_name(Transfer transfer);

/// A byte of the file, and what people call it (from 1).
struct Place {
  std::size_t offset = 0;
  int line = 1;
  int column = 1;
};

struct MapClause {
  Transfer transfer = Transfer::kIn;
  std::string array;
  std::string field;  // "x" in P.x, "a.b" in P.a.b; else empty
  std::vector<std::string> indices;
  std::vector<QuasiAffine> target;
  std::vector<std::int64_t> padding;  // as many as target
  std::string type;
  std::vector<QuasiAffine> extents;  // as many as indices
  Place place;                       // of the array's name
  Place type_place;
};

struct Directive {
  std::size_t begin = 0;  // of the line's first byte that is not white
  std::size_t end = 0;    // past the last byte of the last line, without its newline
  Place place;
  std::vector<MapClause> maps;
  bool redistributes() const { return !maps.empty() && maps[0].transfer == Transfer::kRedistribute; }
};

/// `#pragma scop` and `#pragma endscop`.
struct ScopMark {
  std::size_t begin = 0;
  bool opens = false;
};

/// Another pragma, a macro definition or an inclusion: what it mentions is not seen by whoever reads the parsed
/// program.
struct OtherLine {
  std::size_t begin = 0;
  std::size_t end = 0;
  Place place;
  std::string keyword;  // "pragma", "define", "include"
  std::string word;     // of a pragma: the first, "omp"
};

struct ScannedSource {
  std::vector<Directive> directives;
  std::vector<ScopMark> scops;
  std::vector<OtherLine> others;
};

Result<ScannedSource> scan_source(const std::string& file, std::string_view text);

/// Parses what stands behind `#pragma layout`; for tests and for callers that have no file.
Result<Directive> parse_directive(const std::string& file, std::string_view text);

/// The directive again, in one canonical form: `layout map(inout: C[e1, e2] -> [0, e1, e2] : double[ni, nj])`.
std::string directive_text(const Directive& directive);

/// The place of a byte of a text.
Place place_of(std::string_view text, std::size_t offset);

/// Past white space, continued lines and comments.
std::size_t skip_blank(std::string_view text, std::size_t at, std::size_t end);

/// Past the string or character literal that begins here.
std::size_t skip_literal(std::string_view text, std::size_t at, std::size_t end);

bool begins_name(char c);
bool continues_name(char c);

}  // namespace loopfold::layout
