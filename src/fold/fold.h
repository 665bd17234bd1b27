// Folding: a stream of points with labels becomes a few polyhedra with affine label functions (TACO 2019, section 5).
//
// A *stream* is a sequence of points (iteration vectors, outermost coordinate first, strictly increasing in
// lexicographic order), each with the same number of integer labels, its *outputs*: an address, an integer result, or
// the iteration vector of the producer of a dependence. A *Folder* takes the points of one stream, in order and one by
// one, and keeps no more of them than it needs; finish() gives the *pieces* that it found.
//
// A piece is a polyhedron, written as nested ranges (the range of a coordinate depends on the coordinates before it),
// and one function per output. Exactness contract:
// - A piece with an exact domain contains exactly the points that were folded into it; one without contains them all,
//   and says so. The pieces of a stream are disjoint if all are exact.
// - An output with no TOP coefficient is right at every point that was folded into the piece. It may be a fraction of
//   an affine function: then that is divisible at every one of these points.
// - An output with TOP along some dimensions claims this much and no more: two points of the piece (that were in the
//   stream) which agree in all of these dimensions differ in the label by exactly the sum of coefficient * difference
//   over the others, divided by the divisor. minimum and maximum bound every label.
// - Arithmetic is checked: what does not fit into 64 bits becomes TOP or an inexact domain, never a wrong answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loopfold::fold {

/// The published algorithm with its two ways to approximate switched on or off, and ours.
enum class Variant : std::uint8_t {
  kF,     // exact, whatever it costs
  kFW,    // label widening
  kFGG,   // geometric give-up
  kFGGW,  // both
  kAuto,  // exact as long as that is small, lattices included; then widening; then give-up, dimension by dimension
};

/// "F", "FW", "FGG", "FGGW", "auto".
std::string_view variant_name(Variant variant);
bool parse_variant(std::string_view name, Variant& into);

struct Options {
  Variant variant = Variant::kAuto;
  std::uint32_t max_pieces = 16;  // kAuto: more pieces than this are too many for a stream
};

/// What the points of a stream look like.
struct Shape {
  std::uint16_t dimensions = 0;
  std::uint16_t outputs = 0;
  /// Of a dependence: so many loops are shared by producer and consumer. Output o < shared is then the producer's
  /// counter of the loop of dimension o, and point[o] - label[o] is the distance along it.
  std::uint16_t shared = 0;
  /// The caller knows what covers the points: a piece whose domain was given up has no ranges.
  bool covered = false;
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// constant + sum of coefficients[k] * coordinate k.
struct Affine {
  std::int64_t constant = 0;
  std::vector<std::int64_t> coefficients;
  friend bool operator==(const Affine&, const Affine&) = default;
};

/// Coordinate k of a piece: lower, lower + stride, lower + 2 stride ... as long as it is <= upper. Both bounds are
/// functions of the coordinates before it (k coefficients each). upper is tight where the domain is exact: it is
/// reached by some point.
///
/// Bounds may be fractions, on lattices: if every second iteration of a loop makes an inner one shorter by 1 (a
/// triangle whose rows are done two elements at a time), its even iterations have the bound (n - i) / 2. Then the
/// bounds are those of divisor * coordinate; both are multiples of the divisor wherever the coordinates before are in
/// the piece. Normal form: no number but 1 divides all of both and the divisor.
struct Range {
  Affine lower;
  Affine upper;
  std::int64_t stride = 1;   // >= 1
  std::int64_t divisor = 1;  // >= 1
  friend bool operator==(const Range&, const Range&) = default;
};

/// One label as a function of the point. With v = value / divisor, which is an integer wherever the function holds: v,
/// if modulus is 0; else base + ((v - base) mod modulus), the remainder being in 0 .. modulus - 1. A divisor other than
/// 1 makes sense on lattices: what a loop in steps of 3 wrote is read at 0, 3, 6 ... and comes from its iteration k
/// / 3. Normal form: no number but 1 divides the coefficients, the constant and the divisor.
struct Output {
  Affine value;           // one coefficient per dimension; 0 where it is TOP
  std::vector<bool> top;  // by dimension: not affine along it
  std::int64_t modulus = 0;
  std::int64_t base = 0;
  std::int64_t minimum = 0;  // of the label, over the points of the piece
  std::int64_t maximum = 0;
  std::int64_t distance_minimum = 0;  // of point[o] - label[o], where o < Shape::shared
  std::int64_t distance_maximum = 0;
  std::int64_t divisor = 1;  // >= 1

  bool affine() const {
    for (const bool t : top)
      if (t) return false;
    return true;
  }
  friend bool operator==(const Output&, const Output&) = default;
};

struct Piece {
  std::vector<Range> ranges;    // by dimension; none if the domain was given up and Shape::covered
  std::vector<Output> outputs;  // by output
  bool exact_domain = true;
  std::uint64_t points = 0;  // folded into it

  bool exact() const {
    if (!exact_domain) return false;
    for (const Output& output : outputs)
      if (!output.affine()) return false;
    return true;
  }
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// A folded stream.
struct Folded {
  std::vector<Piece> pieces;  // in the order of their first points
  std::uint64_t points = 0;
  std::uint64_t max_intermediate = 0;  // most polyhedra that were live at a time: #MP_I
  bool widened = false;                // some output is TOP
  bool gave_up = false;                // some domain is inexact
  std::string why;                     // if gave_up: one short phrase, "more than 9 intermediate polyhedra"

  bool exact() const { return !widened && !gave_up; }
};

/// n points: `point`, then with its last coordinate greater by `stride` each time; label o grows by steps[o] each time
/// (wrapping). Without outputs, labels and steps may be null.
struct Run {
  const std::int64_t* point = nullptr;
  const std::int64_t* labels = nullptr;
  const std::int64_t* steps = nullptr;
  std::uint64_t n = 0;
  std::int64_t stride = 1;
};

/// Runs beside each other: the same one again and again, each time with its coordinate before the last greater by
/// `stride`, and label o by steps[o] (wrapping).
struct Ranks {
  std::uint64_t n = 0;
  std::int64_t stride = 1;
  const std::int64_t* steps = nullptr;  // without outputs, it may be null
};

/// The least and the greatest of some numbers.
struct Ends {
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = std::numeric_limits<std::int64_t>::min();
  void include(std::int64_t value) {
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  bool constant() const { return low == high; }
};

/// n points in a row of memory each, and their labels in another: Shape::dimensions and Shape::outputs numbers apart.
struct Rows {
  const std::int64_t* points = nullptr;
  const std::int64_t* labels = nullptr;
  std::size_t n = 0;
  bool ordered = false;          // each is known to come after the one before
  const Ends* ends = nullptr;    // by coordinate; null: not known
  std::size_t same = 0;          // so many of the first labels are known to be the coordinates, of each
  std::uint64_t follows = 0;     // by row, of the first 64, as bits: it is the one before, but for 1 more in the last
                                 // coordinate
  const Ends* around = nullptr;  // by coordinate: all are known to lie between these; null: not known
};

/// Folds one stream. Not copyable; several folders share nothing, so each may be used by another thread.
class Folder {
 public:
  explicit Folder(Shape shape) : shape_(shape) {}
  virtual ~Folder() = default;
  /// `point` has Shape::dimensions coordinates, `labels` Shape::outputs values. A point that does not come after the
  /// one before it makes the folder give up (the result still covers it).
  virtual void add(const std::int64_t* point, const std::int64_t* labels) = 0;
  /// Exactly as n calls of add(), but in time that does not depend on n where the points are regular. n and
  /// Shape::dimensions are >= 1. A stream has fewer than 2^63 points.
  virtual void add_run(const Run& run);
  /// Exactly as ranks.n calls of add_run(), of which `run` is the first, but in time that does not depend on their
  /// number where they are rows that were expected. There are at least two dimensions.
  virtual void add_ranks(const Run& run, const Ranks& ranks);
  /// Exactly as n calls of add(): what all of them need is done once.
  virtual void add_rows(const Rows& rows);
  /// From here on one box and, where that can be kept cheaply, labels; `why` is said in the result.
  virtual void give_up(std::string_view why) = 0;
  /// Memory that it holds, in accounted bytes: the same for the same points, whatever the allocator does.
  virtual std::size_t bytes() const = 0;
  /// The end of the stream; the folder is of no use afterwards.
  virtual Folded finish() = 0;

 protected:
  Shape shape_;
};

std::unique_ptr<Folder> make_folder(const Options& options, Shape shape);

/// The same stream, folded in parts that differ in their first coordinates (threads that ran beside each other): all
/// pieces, joined along the first coordinate where that is exact.
Folded unite(std::vector<Folded> parts, Shape shape);

/// The value of an affine output at a point; false if it has a TOP, is not an integer there or does not fit into 64
/// bits.
bool evaluate(const Output& output, std::span<const std::int64_t> point, std::int64_t& into);

/// Whether `point` is in the domain of `piece`.
bool contains(const Piece& piece, std::span<const std::int64_t> point);

}  // namespace loopfold::fold
