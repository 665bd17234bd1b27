// Parts of one stream that were folded apart, because they differ in the first coordinate: threads.
//
// Pieces are joined as rows are in adaptive folding, but along dimension 0 only, and with functions of coordinates:
// pieces that agree in everything but how constants depend on the first coordinate are joined if that dependence is
// affine and their first coordinates follow each other with one stride. A piece with one first coordinate has no
// opinion on the dependence. Outputs with a TOP become TOP along dimension 0, and keep what they say inside it: points
// that agree in the first coordinate come from one part. Only exact domains are joined; the others stay as they are.
//
// More than kMostPieces pieces are covered by one box; labels that are the same function everywhere stay.
//
// Exact where the parts are, but for that. The cost is quadratic in the number of pieces.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "fold/fold.h"
#include "fold/fraction.h"
#include "support/wide.h"

namespace loopfold::fold {

namespace {

constexpr std::size_t kMostPieces = 64;

bool fits(Wide value) { return value == static_cast<std::int64_t>(value); }

std::vector<std::int64_t> first_point(const Piece& piece) {
  std::vector<std::int64_t> point;
  for (const Range& range : piece.ranges) {
    Wide at = range.lower.constant;
    for (std::size_t k = 0; k < point.size(); ++k) at += static_cast<Wide>(range.lower.coefficients[k]) * point[k];
    point.push_back(saturated(quotient(at, range.divisor)));
  }
  return point;
}

/// The first coordinates of a piece: first, first + stride .. last.
struct Along {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t stride = 1;
  bool one() const { return first == last; }
};

Along along_of(const Piece& piece) {
  return {piece.ranges[0].lower.constant, piece.ranges[0].upper.constant, piece.ranges[0].stride};
}

/// What two pieces do not have to share: a function but for its constant and its coefficient along dimension 0.
bool same_inside(const Affine& a, const Affine& b) {
  return std::equal(a.coefficients.begin() + 1, a.coefficients.end(), b.coefficients.begin() + 1, b.coefficients.end());
}

bool same_claims(const Output& a, const Output& b) {
  return std::equal(a.top.begin() + 1, a.top.end(), b.top.begin() + 1, b.top.end());
}

/// The numerators, if they fit.
bool narrow(const Fraction& from, Affine& into) {
  for (const Wide c : from.coefficients) {
    if (!fits(c)) return false;
    into.coefficients.push_back(static_cast<std::int64_t>(c));
  }
  into.constant = static_cast<std::int64_t>(from.constant);
  return fits(from.constant);
}

/// Two functions that are to be one, with the first coordinates that they hold for.
bool join_functions(Affine& a, const Along& at, const Affine& b, const Along& bt) {
  if (!same_inside(a, b)) return false;
  const auto value = [](const Affine& f, std::int64_t x) {
    return f.constant + static_cast<Wide>(f.coefficients[0]) * x;
  };
  const Wide rise = value(b, bt.first) - value(a, at.last);
  const Wide run = static_cast<Wide>(bt.first) - at.last;
  Wide slope = rise / run;
  if (rise % run != 0 || !fits(slope)) return false;
  if (!at.one() && slope != a.coefficients[0]) return false;
  if (!bt.one() && slope != b.coefficients[0]) return false;
  const Wide constant = value(a, at.first) - slope * at.first;
  if (!fits(constant)) return false;
  a.coefficients[0] = static_cast<std::int64_t>(slope);
  a.constant = static_cast<std::int64_t>(constant);
  return true;
}

/// The same of labels, which may have fractions: of their numerators over a common divisor. Joining makes no new ones.
bool join_labels(Output& a, const Along& at, const Output& b, const Along& bt) {
  Fraction one(a.value, a.divisor);
  Fraction two(b.value, b.divisor);
  const Wide common = gcd(a.divisor, b.divisor);
  if (!one.extend(b.divisor / common) || !two.extend(a.divisor / common)) return false;
  Affine both;
  Affine other;
  if (!narrow(one, both) || !narrow(two, other) || !join_functions(both, at, other, bt)) return false;
  return Fraction(both, one.divisor).reduced(a.value, a.divisor);
}

bool join_outputs(Output& a, const Along& at, const Output& b, const Along& bt) {
  if (a.modulus != b.modulus || !same_claims(a, b) || a.affine() != b.affine()) return false;
  a.minimum = std::min(a.minimum, b.minimum);
  a.maximum = std::max(a.maximum, b.maximum);
  a.distance_minimum = std::min(a.distance_minimum, b.distance_minimum);
  a.distance_maximum = std::max(a.distance_maximum, b.distance_maximum);
  if (!a.affine()) {
    if (!same_inside(a.value, b.value) || a.divisor != b.divisor) return false;
    a.value.coefficients[0] = 0;
    a.value.constant = 0;
    a.top[0] = true;
    return true;
  }
  if (!join_labels(a, at, b, bt)) return false;
  if (a.modulus == 0) return true;
  a.base = std::min(a.base, b.base);
  return static_cast<Wide>(a.maximum) - a.base < a.modulus;
}

/// `next` behind `piece`, if they are one piece.
bool join(Piece& piece, const Piece& next) {
  const Along at = along_of(piece);
  const Along bt = along_of(next);
  if (!piece.exact_domain || !next.exact_domain || bt.first <= at.last) return false;
  const Wide gap = static_cast<Wide>(bt.first) - at.last;
  if (!fits(gap) || (!at.one() && gap != at.stride) || (!bt.one() && gap != bt.stride)) return false;
  Piece both = piece;
  both.ranges[0].stride = static_cast<std::int64_t>(gap);
  both.ranges[0].upper = next.ranges[0].upper;
  for (std::size_t k = 1; k < both.ranges.size(); ++k) {
    Range& range = both.ranges[k];
    const Range& other = next.ranges[k];
    if (range.stride != other.stride && !(range.lower == range.upper) && !(other.lower == other.upper)) return false;
    if (range.lower == range.upper) range.stride = other.stride;
    if (range.divisor != other.divisor || !join_functions(range.lower, at, other.lower, bt) ||
        !join_functions(range.upper, at, other.upper, bt) || !set_divisor(range, range.divisor, range.divisor))
      return false;
  }
  for (std::size_t o = 0; o < both.outputs.size(); ++o)
    if (!join_outputs(both.outputs[o], at, next.outputs[o], bt)) return false;
  both.points += next.points;
  piece = std::move(both);
  return true;
}

/// Pieces come in the order of their first coordinates; those that predict a piece are asked before those with one
/// first coordinate, and each takes one piece per coordinate.
std::vector<Piece> joined(std::vector<Piece> pieces) {
  std::vector<Piece> done;
  for (Piece& next : pieces) {
    bool taken = false;
    for (const bool predicting : {true, false})
      for (Piece& piece : done) {
        if (taken || along_of(piece).one() == predicting) continue;
        taken = join(piece, next);
      }
    if (!taken) done.push_back(std::move(next));
  }
  return done;
}

struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

Interval values(const Affine& function, const std::vector<Interval>& box) {
  Wide low = function.constant;
  Wide high = function.constant;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k) {
    const Wide c = function.coefficients[k];
    low += c * (c > 0 ? box[k].low : box[k].high);
    high += c * (c > 0 ? box[k].high : box[k].low);
  }
  return {saturated(low), saturated(high)};
}

std::vector<Interval> box_of(const Piece& piece) {
  std::vector<Interval> box;
  for (const Range& range : piece.ranges)
    box.push_back({saturated(rounded_down(values(range.lower, box).low, range.divisor)),
                   saturated(rounded_up(values(range.upper, box).high, range.divisor))});
  return box;
}

Piece cover(const std::vector<Piece>& pieces) {
  Piece all;
  all.exact_domain = false;
  std::vector<Interval> box = box_of(pieces[0]);
  all.outputs = pieces[0].outputs;
  for (const Piece& piece : pieces) {
    all.points += piece.points;
    const std::vector<Interval> own = box_of(piece);
    for (std::size_t k = 0; k < box.size(); ++k)
      box[k] = {std::min(box[k].low, own[k].low), std::max(box[k].high, own[k].high)};
    for (std::size_t o = 0; o < all.outputs.size(); ++o) {
      Output& output = all.outputs[o];
      const Output& other = piece.outputs[o];
      const bool same = output.affine() && other.affine() && output.modulus == 0 && other.modulus == 0 &&
                        output.value == other.value && output.divisor == other.divisor;
      if (!same) {
        output.divisor = 1;
        output.value = {0, std::vector<std::int64_t>(box.size())};
        output.top.assign(box.size(), true);
        output.modulus = 0;
        output.base = 0;
      }
      output.minimum = std::min(output.minimum, other.minimum);
      output.maximum = std::max(output.maximum, other.maximum);
      output.distance_minimum = std::min(output.distance_minimum, other.distance_minimum);
      output.distance_maximum = std::max(output.distance_maximum, other.distance_maximum);
    }
  }
  for (std::size_t k = 0; k < box.size(); ++k) {
    const std::vector<std::int64_t> none(k);
    all.ranges.push_back({{box[k].low, none}, {box[k].high, none}, 1});
  }
  return all;
}

}  // namespace

Folded unite(std::vector<Folded> parts, Shape shape) {
  Folded all;
  for (Folded& part : parts) {
    all.points += part.points;
    all.max_intermediate += part.max_intermediate;
    if (all.why.empty()) all.why = part.why;
    for (Piece& piece : part.pieces) all.pieces.push_back(std::move(piece));
  }
  if (parts.size() > 1 && shape.dimensions > 0) {
    std::stable_sort(all.pieces.begin(), all.pieces.end(),
                     [](const Piece& a, const Piece& b) { return first_point(a) < first_point(b); });
    all.pieces = joined(std::move(all.pieces));
    if (all.pieces.size() > kMostPieces) {
      all.pieces = {cover(all.pieces)};
      if (all.why.empty()) all.why = "more than " + std::to_string(kMostPieces) + " pieces";
    }
  }
  for (const Piece& piece : all.pieces) {
    all.gave_up = all.gave_up || !piece.exact_domain;
    for (const Output& output : piece.outputs) all.widened = all.widened || !output.affine();
  }
  return all;
}

}  // namespace loopfold::fold
