// Label functions of polyhedra that grow (TACO 2019, section 5.2.3, with its errata, and widening as corrected).
//
// A label function of a polyhedron has a coefficient per dimension that is unknown (the paper's bottom: the polyhedron
// is flat along it), an integer, or TOP. The paper keeps, besides, a *remaining value*: what is left of the label at
// the first point when the contributions of known coefficients are taken out. Here it is the label at the first point
// (the anchor), and contributions are taken relative to it: the same equations, smaller numbers. So
//     f(x) = first + sum of c_q (x_q - anchor_q)  over the known dimensions q, if there is no TOP.
//
// When p absorbs the slice s along d:
// - Coefficients inside d that both know must be equal. One that only one of them knows is adopted by the other. This
//   one is flat there: x_q is a function of the coordinates further out on it, and if not a constant one, the
//   coefficients of these change so that its labels do not. (Errata: taken out before anything is compared.)
// - The step from p's first label to s's, without the contributions of dimensions inside d, is the coefficient of d
//   times the distance along d: it defines the coefficient in a merge, where the distance is 1, and must be equal to it
//   in an extension.
//
// Widening. Where coefficients differ, the dimension becomes TOP, for this output alone, and the slice is absorbed all
// the same. As printed, the step along d is then compared at the first points only: the rows 67 71 77 and 68 99 12
// would become 1 cj + TOP ck, though only their first points are 1 apart. What a label function claims here is
//     f(x) = h(x_T) + sum of c_q x_q over the dimensions outside T,   T = the dimensions with TOP:
// two points that agree in T differ by what the other coefficients say. So along d, outside T, the slice must have the
// same h as p wherever both have points: this is what fingerprints are compared for, which needs equal starting
// coordinates along T. If it is not proven, d becomes TOP as well, which is always right, since points that agree in d
// are points of one slice.
//
// When T grows, h becomes a function of more dimensions, and its fingerprint has to be made anew. That is possible
// - from an affine function, by its coefficients: exactly, if the bounds of T's dimensions depend on each other only;
//   else as if T's dimensions were a rectangle, which holds more points and so proves less, but nothing wrong;
// - by a dimension outside the old top, along which f was affine, in the same way.
// Else the fingerprint is forgotten, nothing is proven any more, and every dimension further out becomes TOP.
//
// Exactness: coefficients are proven, but for collisions of 64-bit hashes. Sums are made in 128 bits and checked; what
// does not fit is a coefficient that does not match.
#pragma once

#include <cstdint>
#include <vector>

#include "fold/fingerprint.h"
#include "fold/polyhedron.h"

namespace loopfold::fold {

struct Coefficients {
  std::uint32_t known = 0;  // by dimension, innermost first: an integer
  std::uint32_t top = 0;    // by dimension: TOP; never both
  Coordinates value{};      // 0 where it is not known
};

struct LabelFunction {
  std::int64_t first = 0;  // the label at the anchor
  Coefficients coefficients;
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  std::int64_t distance_minimum = 0;
  std::int64_t distance_maximum = 0;
  Fingerprint fingerprint;  // of h, if there is a TOP
};

/// `p` with label function `f` wants to absorb `slice` with label function `g`, along `d`. Without widening: false if
/// that is not exact; else `into` are the coefficients of both together. Neither function has a TOP.
bool join(const LabelFunction& f, const Polyhedron& p, const LabelFunction& g, const Polyhedron& slice, std::size_t d,
          Coefficients& into);

/// `p` absorbs `slice`: `f` becomes the function of both, with TOP where that is needed.
void widen(LabelFunction& f, const Polyhedron& p, const LabelFunction& g, const Polyhedron& slice, std::size_t d);

/// The extremes of both.
void cover(LabelFunction& f, const LabelFunction& g);

/// The constant of the function, as far as it is affine; false if that does not fit into 64 bits.
bool constant_term(const LabelFunction& f, const std::int64_t* anchor, std::size_t dimensions, std::int64_t& into);

}  // namespace loopfold::fold
