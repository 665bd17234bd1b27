// What the pieces of a folded stream have in common: one linear function, as far as there is one.
//
// A stream has one or more pieces, each with an affine function per output. A reader of a profile mostly wants one
// answer, "8 bytes per iteration of the inner loop", and not a list of polyhedra. The coefficient along a coordinate is
// common if all pieces in which that coordinate varies have it; it is missing where one of them has a TOP, where two
// differ, where it is not an integer (a label on a lattice), and where the function wraps around (a modulus) and does
// change along the coordinate. A coordinate that is fixed in a piece (a peeled first iteration) fits any coefficient. Exact: with all coefficients and the constant
// there, the function is right at every point of the stream. Linear in the number of pieces; checked arithmetic, what
// does not fit into 64 bits is missing.
#pragma once

#include <cstdint>
#include <vector>

#include "fold/fold.h"
#include "profile/profile.h"

namespace loopfold::poly {

using profile::Coefficient;

struct CommonFunction {
  std::vector<Coefficient> coefficients;  // by coordinate
  Coefficient constant;                   // only if no coefficient is missing
  bool affine() const;                    // no coefficient is missing
};

/// Of output `output`. The first coordinate is left out if `drop_first`: it must be 0 in all points.
CommonFunction common_function(const fold::Folded& folded, std::size_t output, bool drop_first);

/// The coefficients of one piece as they are, over its divisor, TOP missing.
std::vector<Coefficient> coefficients_of(const fold::Output& output, bool drop_first);

/// A range of values.
struct Extent {
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
};

/// Of the labels of an output, over all pieces. There must be a piece.
Extent extent_of(const fold::Folded& folded, std::size_t output);
/// Of the distance along coordinate `output`, over all pieces. There must be a piece.
Extent distance_of(const fold::Folded& folded, std::size_t output);

/// Some output of some piece has a TOP along a coordinate: by coordinate.
std::vector<bool> top_coordinates(const fold::Folded& folded);

}  // namespace loopfold::poly
