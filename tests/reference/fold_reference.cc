#include "reference/fold_reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

#include "support/wide.h"

namespace loopfold::fold::reference {

namespace {

using Kind = Complaint::Kind;
using Point = std::vector<std::int64_t>;

constexpr std::size_t kMostComplaints = 12;

void add_product(Wide& sum, Wide a, Wide b) {
  Wide product = 0;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &sum))
    throw std::overflow_error("the reference needs more than 128 bits");
}

Wide evaluate_wide(const Affine& function, std::span<const std::int64_t> point) {
  Wide sum = function.constant;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k) add_product(sum, function.coefficients[k], point[k]);
  return sum;
}

Wide remainder_of(Wide value, Wide modulus) { return ((value % modulus) + modulus) % modulus; }

Wide common_divisor(Wide a, Wide b) { return b == 0 ? (a < 0 ? -a : a) : common_divisor(b, a % b); }

/// Nothing where the function is not an integer.
std::optional<Wide> label_of(const Output& output, std::span<const std::int64_t> point) {
  const Wide numerator = evaluate_wide(output.value, point);
  if (numerator % output.divisor != 0) return std::nullopt;
  const Wide value = numerator / output.divisor;
  return output.modulus == 0 ? value : output.base + remainder_of(value - output.base, output.modulus);
}

bool domain_contains(const Piece& piece, std::span<const std::int64_t> point) {
  for (std::size_t k = 0; k < piece.ranges.size(); ++k) {
    const Range& range = piece.ranges[k];
    const Wide lower = evaluate_wide(range.lower, point);
    const Wide at = static_cast<Wide>(range.divisor) * point[k];
    if (at < lower || at > evaluate_wide(range.upper, point)) return false;
    if (remainder_of(at - lower, static_cast<Wide>(range.divisor) * range.stride) != 0) return false;
  }
  return true;
}

std::int64_t distance_of(const Labelled& labelled, std::size_t output) {
  const Wide distance = static_cast<Wide>(labelled.point[output]) - labelled.labels[output];
  return static_cast<std::int64_t>(std::clamp(distance, static_cast<Wide>(std::numeric_limits<std::int64_t>::min()),
                                              static_cast<Wide>(std::numeric_limits<std::int64_t>::max())));
}

bool within(std::int64_t value, std::int64_t low, std::int64_t high) { return low <= value && value <= high; }

/// All integer points of a piece in lexicographic order, by nested loops; stops after `most` steps.
class Enumeration {
 public:
  Enumeration(const Piece& piece, std::size_t most) : piece_(piece), left_(most), point_(piece.ranges.size()) {
    complete_ = loop(0);
  }
  const std::vector<Point>& points() const { return points_; }
  bool complete() const { return complete_; }

 private:
  bool loop(std::size_t k) {
    if (left_-- == 0) return left_ = 0, false;
    if (k == point_.size()) return points_.push_back(point_), true;
    const Range& range = piece_.ranges[k];
    const Wide lower = evaluate_wide(range.lower, point_);
    const Wide upper = evaluate_wide(range.upper, point_);
    if (lower % range.divisor != 0 || upper % range.divisor != 0) return false;
    for (Wide x = lower / range.divisor; x <= upper / range.divisor; x += range.stride) {
      point_[k] = static_cast<std::int64_t>(x);
      if (point_[k] != x || !loop(k + 1)) return false;
    }
    return true;
  }

  const Piece& piece_;
  std::size_t left_;
  Point point_;
  std::vector<Point> points_;
  bool complete_ = false;
};

/// What an output with TOPs claims, as far as the points added so far go: a representative per group of points that
/// agree in the TOP dimensions.
class Claim {
 public:
  Claim(const Output& output, std::size_t number) : output_(output), number_(number) {}

  /// An output that is TOP everywhere claims nothing.
  bool empty() const { return std::find(output_.top.begin(), output_.top.end(), false) == output_.top.end(); }

  /// The point that contradicts `labelled`, or null.
  const Labelled* against(const Labelled& labelled) const {
    const auto group = groups_.find(key(labelled));
    if (group == groups_.end()) return nullptr;
    const Labelled& other = *group->second;
    Wide difference = 0;
    add_product(difference, output_.divisor, static_cast<Wide>(labelled.labels[number_]) - other.labels[number_]);
    for (std::size_t k = 0; k < output_.top.size(); ++k)
      if (!output_.top[k])
        add_product(difference, output_.value.coefficients[k], static_cast<Wide>(other.point[k]) - labelled.point[k]);
    return difference == 0 ? nullptr : &other;
  }

  void add(const Labelled& labelled) { groups_.emplace(key(labelled), &labelled); }

 private:
  Point key(const Labelled& labelled) const {
    Point key;
    for (std::size_t k = 0; k < output_.top.size(); ++k)
      if (output_.top[k]) key.push_back(labelled.point[k]);
    return key;
  }

  const Output& output_;
  std::size_t number_;
  std::map<Point, const Labelled*> groups_;
};

class Checker {
 public:
  Checker(const Stream& stream, const Folded& folded) : stream_(stream), folded_(folded) {
    for (const Labelled& labelled : stream.points) everything_.push_back(&labelled);
  }

  std::vector<Complaint> run() {
    check_form();
    if (!complaints_.empty()) return complaints_;
    members_.resize(folded_.pieces.size());
    open_.resize(folded_.pieces.size());
    make_claims();
    enumerate_exact_pieces();
    assign_points();
    check_open_points();
    for (std::size_t i = 0; i < folded_.pieces.size(); ++i) {
      check_count(i);
      check_reached(i);
      if (folded_.pieces[i].exact_domain) check_tight(i);
    }
    check_totals();
    check_flags();
    check_functions();
    return complaints_;
  }

 private:
  template <typename... Arguments>
  void complain(Kind kind, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (complaints_.size() < kMostComplaints)
      complaints_.push_back({kind, fmt::format(format, std::forward<Arguments>(arguments)...)});
  }

  void check_form() {
    for (std::size_t i = 0; i < folded_.pieces.size(); ++i) {
      const Piece& piece = folded_.pieces[i];
      if (piece.ranges.size() != stream_.shape.dimensions)
        complain(Kind::kForm, "piece {} has {} ranges", i, piece.ranges.size());
      if (piece.outputs.size() != stream_.shape.outputs)
        complain(Kind::kForm, "piece {} has {} outputs", i, piece.outputs.size());
      for (std::size_t k = 0; k < piece.ranges.size(); ++k) check_form(piece.ranges[k], i, k);
      for (const Output& output : piece.outputs) check_form(output, i);
    }
  }

  void check_form(const Range& range, std::size_t piece, std::size_t k) {
    if (range.lower.coefficients.size() != k || range.upper.coefficients.size() != k)
      complain(Kind::kForm, "piece {}: the bounds of dimension {} have {} and {} coefficients", piece, k,
               range.lower.coefficients.size(), range.upper.coefficients.size());
    if (range.stride < 1) complain(Kind::kForm, "piece {}: dimension {} has stride {}", piece, k, range.stride);
    Wide common = range.divisor;
    for (const Affine* bound : {&range.lower, &range.upper}) {
      common = common_divisor(common, bound->constant);
      for (const std::int64_t c : bound->coefficients) common = common_divisor(common, c);
    }
    if (range.divisor < 1 || (range.divisor > 1 && common != 1))
      complain(Kind::kForm, "piece {}: dimension {} has divisor {}", piece, k, range.divisor);
  }

  void check_form(const Output& output, std::size_t piece) {
    const std::size_t dimensions = stream_.shape.dimensions;
    if (output.top.size() != dimensions || output.value.coefficients.size() != dimensions) {
      complain(Kind::kForm, "piece {}: an output has {} coefficients", piece, output.value.coefficients.size());
      return;
    }
    for (std::size_t k = 0; k < dimensions; ++k)
      if (output.top[k] && output.value.coefficients[k] != 0)
        complain(Kind::kForm, "piece {}: a coefficient is TOP and {}", piece, output.value.coefficients[k]);
    Wide common = common_divisor(output.divisor, output.value.constant);
    for (const std::int64_t c : output.value.coefficients) common = common_divisor(common, c);
    if (output.divisor < 1 || common != 1) complain(Kind::kForm, "piece {}: divisor {}", piece, output.divisor);
    if (output.modulus < 0) complain(Kind::kForm, "piece {}: modulus {}", piece, output.modulus);
    if (output.modulus != 0 && !output.affine()) complain(Kind::kForm, "piece {}: modulus and TOP", piece);
  }

  void make_claims() {
    for (const Piece& piece : folded_.pieces) {
      std::vector<Claim>& claims = claims_.emplace_back();
      for (std::size_t o = 0; o < piece.outputs.size(); ++o)
        if (!piece.outputs[o].affine()) claims.emplace_back(piece.outputs[o], o);
    }
  }

  void enumerate_exact_pieces() {
    const std::size_t most = 1000 + 100 * stream_.points.size();
    const Point* last = nullptr;
    for (std::size_t i = 0; i < folded_.pieces.size(); ++i) {
      if (!folded_.pieces[i].exact_domain) continue;
      const Enumeration& all = enumerations_.emplace(i, Enumeration(folded_.pieces[i], most)).first->second;
      if (!all.complete()) complain(Kind::kExtra, "piece {} has more points than the stream, or too large ones", i);
      for (const Point& point : all.points()) {
        const auto [owner, fresh] = owner_.emplace(point, Owner{i, false});
        if (!fresh) complain(Kind::kOverlap, "pieces {} and {} have the point {}", owner->second.piece, i, point);
      }
      if (all.points().empty()) continue;
      if (last != nullptr && all.points().front() < *last)
        complain(Kind::kOrder, "piece {} starts before the exact piece in front of it", i);
      last = &all.points().front();
    }
  }

  void assign_points() {
    const bool ordered = in_order(stream_);
    for (const Labelled& labelled : stream_.points) {
      const auto owner = owner_.find(labelled.point);
      const bool owned = owner != owner_.end() && !owner->second.taken;
      if (owned && (ordered || !objection(owner->second.piece, labelled))) {
        owner->second.taken = true;
        assign(owner->second.piece, labelled);
      } else {
        assign_to_inexact(labelled);
      }
    }
    for (const auto& [point, owner] : owner_)
      if (!owner.taken) complain(Kind::kExtra, "piece {}: {} is not in the stream", owner.piece, point);
  }

  void assign_to_inexact(const Labelled& labelled) {
    std::vector<std::size_t> explaining;
    std::size_t containing = folded_.pieces.size();
    for (std::size_t i = 0; i < folded_.pieces.size(); ++i) {
      if (folded_.pieces[i].exact_domain || !domain_contains(folded_.pieces[i], labelled.point)) continue;
      containing = std::min(containing, i);
      if (!objection(i, labelled)) explaining.push_back(i);
    }
    if (containing == folded_.pieces.size()) return complain(Kind::kMissing, "{} is in no piece", labelled.point);
    if (explaining.empty()) return assign(containing, labelled);
    if (explaining.size() == 1) return assign(explaining.front(), labelled);
    for (const std::size_t i : explaining) ++open_[i];
    open_points_.emplace_back(&labelled, std::move(explaining));
  }

  void assign(std::size_t piece, const Labelled& labelled) {
    if (const std::optional<Complaint> wrong = objection(piece, labelled))
      complain(wrong->kind, "{}", wrong->text);
    else
      check_evaluate(folded_.pieces[piece], labelled);
    members_[piece].push_back(&labelled);
    for (Claim& claim : claims_[piece]) {
      if (claim.empty()) continue;
      if (const Labelled* other = claim.against(labelled))
        complain(Kind::kClaim, "piece {}: {} has {} and {} has {}, against the claim", piece, other->point,
                 other->labels, labelled.point, labelled.labels);
      claim.add(labelled);
    }
  }

  void check_open_points() {
    for (const auto& [labelled, pieces] : open_points_) {
      const auto agrees = [this, labelled = labelled](std::size_t piece) {
        return std::none_of(claims_[piece].begin(), claims_[piece].end(),
                            [&](const Claim& claim) { return !claim.empty() && claim.against(*labelled) != nullptr; });
      };
      if (std::none_of(pieces.begin(), pieces.end(), agrees))
        complain(Kind::kClaim, "{} has {}, against the claims of all pieces", labelled->point, labelled->labels);
    }
  }

  /// Why `labelled` cannot have been folded into a piece that contains its point.
  std::optional<Complaint> objection(std::size_t number, const Labelled& labelled) const {
    const Piece& piece = folded_.pieces[number];
    for (std::size_t o = 0; o < piece.outputs.size(); ++o) {
      const Output& output = piece.outputs[o];
      const std::int64_t label = labelled.labels[o];
      if (output.affine() && label_of(output, labelled.point) != label)
        return Complaint{Kind::kLabel,
                         fmt::format("piece {}: output {} at {} is not {}", number, o, labelled.point, label)};
      if (!within(label, output.minimum, output.maximum))
        return Complaint{Kind::kBounds, fmt::format("piece {}: output {} at {} is {}, out of {}..{}", number, o,
                                                    labelled.point, label, output.minimum, output.maximum)};
      if (o < stream_.shape.shared &&
          !within(distance_of(labelled, o), output.distance_minimum, output.distance_maximum))
        return Complaint{Kind::kBounds,
                         fmt::format("piece {}: distance {} at {} is {}, out of {}..{}", number, o, labelled.point,
                                     distance_of(labelled, o), output.distance_minimum, output.distance_maximum)};
    }
    return std::nullopt;
  }

  void check_count(std::size_t i) {
    const Piece& piece = folded_.pieces[i];
    const std::size_t known = members_[i].size();
    if (piece.points == 0) complain(Kind::kCount, "piece {} has no points", i);
    if (!within(static_cast<std::int64_t>(piece.points), static_cast<std::int64_t>(known),
                static_cast<std::int64_t>(known + open_[i])))
      complain(Kind::kCount, "piece {} says {} points and has {}, or up to {} more", i, piece.points, known, open_[i]);
  }

  /// The bounds of a label function are reached in the piece if the domain is exact; other bounds were at least
  /// measured somewhere in the stream.
  void check_reached(std::size_t i) {
    const Piece& piece = folded_.pieces[i];
    for (std::size_t o = 0; o < piece.outputs.size() && !members_[i].empty(); ++o) {
      const Output& output = piece.outputs[o];
      std::vector<std::int64_t> labels;
      std::vector<std::int64_t> distances;
      for (const Labelled* labelled : piece.exact_domain&& output.affine() ? members_[i] : everything_) {
        labels.push_back(labelled->labels[o]);
        if (o < stream_.shape.shared) distances.push_back(distance_of(*labelled, o));
      }
      check_reached(labels, output.minimum, output.maximum, fmt::format("piece {}: output {}", i, o));
      if (!distances.empty())
        check_reached(distances, output.distance_minimum, output.distance_maximum,
                      fmt::format("piece {}: distance {}", i, o));
    }
  }

  void check_reached(const std::vector<std::int64_t>& values, std::int64_t minimum, std::int64_t maximum,
                     const std::string& what) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (*low > minimum || *high < maximum)
      complain(Kind::kBounds, "{} is in {}..{}, and {}..{} was said", what, *low, *high, minimum, maximum);
  }

  void check_tight(std::size_t i) {
    const Piece& piece = folded_.pieces[i];
    for (std::size_t k = 0; k < piece.ranges.size(); ++k) {
      const auto at_upper = [&](const Labelled* member) {
        return evaluate_wide(piece.ranges[k].upper, member->point) ==
               static_cast<Wide>(piece.ranges[k].divisor) * member->point[k];
      };
      if (std::none_of(members_[i].begin(), members_[i].end(), at_upper))
        complain(Kind::kTight, "piece {}: the upper bound of dimension {} is never reached", i, k);
    }
  }

  void check_totals() {
    std::uint64_t sum = 0;
    for (const Piece& piece : folded_.pieces) sum += piece.points;
    if (folded_.points != stream_.points.size() || sum != stream_.points.size())
      complain(Kind::kCount, "{} points were folded, {} in pieces, of {}", folded_.points, sum, stream_.points.size());
    if (folded_.max_intermediate == 0 && !stream_.points.empty()) complain(Kind::kCount, "no intermediate polyhedra");
  }

  void check_flags() {
    bool top = false;
    bool inexact = false;
    for (const Piece& piece : folded_.pieces) {
      inexact = inexact || !piece.exact_domain;
      for (const Output& output : piece.outputs) top = top || !output.affine();
    }
    if (top != folded_.widened) complain(Kind::kFlags, "widened is {}", folded_.widened);
    if (inexact != folded_.gave_up) complain(Kind::kFlags, "gave_up is {}", folded_.gave_up);
    if (folded_.gave_up == folded_.why.empty()) complain(Kind::kFlags, "why is '{}'", folded_.why);
  }

  void check_functions() {
    const std::size_t step = 1 + folded_.pieces.size() * stream_.points.size() / 100000;
    for (const Piece& piece : folded_.pieces)
      for (std::size_t i = 0; i < stream_.points.size(); i += step) check_functions(piece, stream_.points[i]);
  }

  void check_functions(const Piece& piece, const Labelled& labelled) {
    if (contains(piece, labelled.point) != domain_contains(piece, labelled.point))
      complain(Kind::kFunction, "contains() is wrong at {}", labelled.point);
  }

  /// fold::evaluate, at a point where the function itself gives the label.
  void check_evaluate(const Piece& piece, const Labelled& labelled) {
    for (std::size_t o = 0; o < piece.outputs.size(); ++o) {
      std::int64_t value = 0;
      const bool known = evaluate(piece.outputs[o], labelled.point, value);
      if (known != piece.outputs[o].affine() || (known && value != labelled.labels[o]))
        complain(Kind::kFunction, "evaluate() is wrong at {}", labelled.point);
    }
  }

  struct Owner {
    std::size_t piece;
    bool taken;
  };

  const Stream& stream_;
  const Folded& folded_;
  std::vector<const Labelled*> everything_;  // the points of the stream
  std::vector<Complaint> complaints_;
  std::map<std::size_t, Enumeration> enumerations_;    // of the exact pieces
  std::map<Point, Owner> owner_;                       // which exact piece has a point
  std::vector<std::vector<const Labelled*>> members_;  // by piece: what must have been folded into it
  std::vector<std::size_t> open_;                      // by piece: how many points may have been
  std::vector<std::pair<const Labelled*, std::vector<std::size_t>>> open_points_;
  std::vector<std::vector<Claim>> claims_;  // by piece, of its outputs with TOPs
};

}  // namespace

std::vector<Complaint> check(const Stream& stream, const Folded& folded) { return Checker(stream, folded).run(); }

}  // namespace loopfold::fold::reference
