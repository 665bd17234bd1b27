// The reference of folding: explicit lists of points, and what must be true of a folded stream, checked point by point.
//
// check() takes a stream as a list of labelled points and what a Folder made of it, and lists everything in which the
// two disagree with the contract in fold/fold.h. It shares no arithmetic with the folders: bounds, strides, moduli and
// label functions are evaluated here again, in 128 bits and straight from their definitions. What it does:
// - It enumerates the integer points of every piece with an exact domain, by nested loops over the ranges. Each must
//   be a point of the stream, none may be in two pieces, and their number is Piece::points.
// - All other points of the stream must be in inexact pieces, and explained there: the domain contains the point, the
//   bounds contain the label, an output without TOP gives the label.
// - The claim of an output with a TOP is checked by its definition: points are grouped by their coordinates in the TOP
//   dimensions, and within a group labels differ by what the other coefficients say. (Comparing all with the first of
//   the group is comparing all pairs: the differences are exact, so they add up.)
// - Bounds of labels and distances contain those of all points that were folded into the piece, and are reached there.
// - Which points were folded into an inexact piece is not said in the result if several such pieces overlap. A point
//   that only one of them explains was folded into that one; a point that several explain must go with the points of
//   at least one of them. With one inexact piece, which is the usual case, nothing is left open.
//
// Cost: linear in points times pieces. A complaint is never wrong; on overlapping inexact pieces, and only there, a
// false claim may be overlooked.
//
// fold_naively() is the obvious exact folder: one piece per longest row of consecutive points along the innermost
// dimension. Its result passes check(), and no way of folding should need more pieces. fewest_pieces() finds the least
// possible number, for streams of a few points, by trying all partitions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fold/fold.h"

namespace loopfold::fold::reference {

struct Labelled {
  std::vector<std::int64_t> point;
  std::vector<std::int64_t> labels;
  friend bool operator==(const Labelled&, const Labelled&) = default;
};

struct Stream {
  Shape shape;
  std::vector<Labelled> points;
  std::string what;  // how it was made, for people
};

/// Something that is wrong with a folded stream.
struct Complaint {
  enum class Kind {
    kForm,      // vectors of a wrong size, strides below 1, coefficients where there is TOP
    kExtra,     // an exact piece has a point that is not in the stream
    kOverlap,   // two exact pieces have a point in common
    kMissing,   // a point is in no piece
    kCount,     // the numbers of points do not add up
    kLabel,     // a label function gives another label
    kClaim,     // a coefficient beside a TOP is wrong
    kBounds,    // minimum, maximum or distances leave out a label, or are reached by none
    kFlags,     // widened, gave_up, why
    kVariant,   // an approximation that the variant does not make
    kOrder,     // pieces are not in the order of their first points
    kTight,     // an upper bound of an exact piece is reached by no point
    kFunction,  // fold::evaluate or fold::contains disagrees with the definition
  };
  Kind kind;
  std::string text;
};

/// What is wrong with `folded` as the result of folding `stream`; nothing, if all is well.
std::vector<Complaint> check(const Stream& stream, const Folded& folded);

/// What is wrong with how `variant` approximated `stream`. `asked`: give_up() was called.
std::vector<Complaint> check_variant(const Stream& stream, const Folded& folded, const Options& options, bool asked);

/// Whether the points come in strictly increasing lexicographic order.
bool in_order(const Stream& stream);

/// Whether 64-bit arithmetic on its labels and coordinates might overflow: then any variant may approximate.
bool is_extreme(const Stream& stream);

/// All points of `stream`, through a folder; give_up() is called before point number `give_up_at`.
inline constexpr std::size_t kNever = static_cast<std::size_t>(-1);
Folded fold_stream(const Stream& stream, const Options& options, std::size_t give_up_at = kNever);

/// One piece per longest row. `stream` is in order.
Folded fold_naively(const Stream& stream);

/// The least number of exact pieces without moduli and divisors whose coefficients are in -4 .. 4. For at most 8 points
/// in at most 2 dimensions with small labels.
std::size_t fewest_pieces(const Stream& stream);

/// Equal in all that a result says.
bool same(const Folded& a, const Folded& b);

std::string_view kind_name(Complaint::Kind kind);

/// One line per piece: `[2..9 step 2][0..i0-1] 8 i0 + TOP i1 + 3 in 0..77, 12 points`.
std::string text(const Folded& folded);

}  // namespace loopfold::fold::reference
