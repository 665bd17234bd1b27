// For tests of folding: streams as lists of points, and a slow, literal check of the contract in fold.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fold/fold.h"
#include "fold/fraction.h"
#include "support/wide.h"

namespace loopfold::fold::test_points {

using Vector = std::vector<std::int64_t>;

struct Labelled {
  Vector point;
  Vector labels;
};

struct Stream {
  Shape shape;
  std::vector<Labelled> points;
};

inline Folded fold_all(const Stream& stream, Folder& folder) {
  for (const Labelled& p : stream.points) folder.add(p.point.data(), p.labels.data());
  return folder.finish();
}

inline Folded fold_all(const Stream& stream, const Options& options = {}) {
  return fold_all(stream, *make_folder(options, stream.shape));
}

/// All points of an exact domain, by counting through the ranges.
inline void enumerate(const Piece& piece, Vector& prefix, std::vector<Vector>& into) {
  const std::size_t k = prefix.size();
  if (k == piece.ranges.size()) {
    into.push_back(prefix);
    return;
  }
  const auto value = [&](const Affine& f) {
    Wide sum = f.constant;
    for (std::size_t i = 0; i < k; ++i) sum += static_cast<Wide>(f.coefficients[i]) * prefix[i];
    return sum;
  };
  const Range& range = piece.ranges[k];
  EXPECT_EQ(value(range.lower) % range.divisor, 0);
  const Wide last = value(range.upper) / range.divisor;
  for (Wide x = value(range.lower) / range.divisor; x <= last; x += range.stride) {
    prefix.push_back(static_cast<std::int64_t>(x));
    enumerate(piece, prefix, into);
    prefix.pop_back();
  }
}

inline std::string text(const Vector& v) {
  std::string s = "(";
  for (const std::int64_t x : v) s += (s.size() > 1 ? "," : "") + std::to_string(x);
  return s + ")";
}

inline std::string text(const Affine& f) {
  std::string s = std::to_string(f.constant);
  for (std::size_t k = 0; k < f.coefficients.size(); ++k)
    if (f.coefficients[k] != 0) s += " + " + std::to_string(f.coefficients[k]) + "*x" + std::to_string(k);
  return s;
}

inline std::string text(const Folded& folded) {
  std::string s;
  for (const Piece& piece : folded.pieces) {
    s += (piece.exact_domain ? "exact " : "cover ") + std::to_string(piece.points) + " points:";
    for (const Range& r : piece.ranges)
      s += " [" + text(r.lower) + " .. " + text(r.upper) + " by " + std::to_string(r.stride) + " over " +
           std::to_string(r.divisor) + "]";
    for (const Output& o : piece.outputs) {
      s += " -> " + text(o.value);
      for (const bool t : o.top) s += t ? "T" : ".";
      if (o.divisor != 1) s += " over " + std::to_string(o.divisor);
      if (o.modulus != 0) s += " mod " + std::to_string(o.modulus) + " from " + std::to_string(o.base);
    }
    s += "\n";
  }
  return s;
}

/// Two points that agree where `output` is TOP differ by its coefficients.
inline std::string check_claim(const Output& output, const std::vector<const Labelled*>& points, std::size_t o) {
  for (const Labelled* a : points)
    for (const Labelled* b : points) {
      bool agree = true;
      Wide want = 0;
      for (std::size_t k = 0; k < output.top.size(); ++k) {
        if (output.top[k])
          agree = agree && a->point[k] == b->point[k];
        else
          want += output.value.coefficients[k] * (static_cast<Wide>(a->point[k]) - b->point[k]);
      }
      if (agree && output.divisor * (static_cast<Wide>(a->labels[o]) - b->labels[o]) != want)
        return "false claim between " + text(a->point) + " and " + text(b->point);
    }
  return "";
}

inline std::string check_output(const Piece& piece, const std::vector<const Labelled*>& points, std::size_t o,
                                Shape shape) {
  const Output& output = piece.outputs[o];
  Wide common = gcd(output.divisor, output.value.constant);
  for (const std::int64_t c : output.value.coefficients) common = gcd(common, c);
  if (output.divisor < 1 || common != 1) return "not in normal form";
  std::int64_t low = INT64_MAX;
  std::int64_t high = INT64_MIN;
  Wide nearest = INT64_MAX;
  Wide farthest = INT64_MIN;
  for (const Labelled* p : points) {
    std::int64_t value = 0;
    if (output.affine() && (!evaluate(output, p->point, value) || value != p->labels[o]))
      return "wrong label at " + text(p->point);
    low = std::min(low, p->labels[o]);
    high = std::max(high, p->labels[o]);
    if (p->labels[o] < output.minimum || p->labels[o] > output.maximum) return "label out of range";
    if (o < shape.shared) {
      const Wide distance = std::clamp<Wide>(static_cast<Wide>(p->point[o]) - p->labels[o], INT64_MIN, INT64_MAX);
      if (distance < output.distance_minimum || distance > output.distance_maximum) return "distance out of range";
      nearest = std::min(nearest, distance);
      farthest = std::max(farthest, distance);
    }
  }
  if (piece.exact() && (low != output.minimum || high != output.maximum)) return "range of labels is not tight";
  if (piece.exact() && o < shape.shared && (nearest != output.distance_minimum || farthest != output.distance_maximum))
    return "range of distances is not tight";
  return output.affine() ? "" : check_claim(output, points, o);
}

/// Empty if `folded` says the truth about the stream.
inline std::string check(const Stream& stream, const Folded& folded) {
  std::vector<std::vector<const Labelled*>> inside(folded.pieces.size());
  std::uint64_t sum = 0;
  bool widened = false;
  bool gave_up = false;
  std::set<Vector> in_exact;
  for (std::size_t i = 0; i < folded.pieces.size(); ++i) {
    const Piece& piece = folded.pieces[i];
    sum += piece.points;
    gave_up = gave_up || !piece.exact_domain;
    for (const Output& o : piece.outputs) widened = widened || !o.affine();
    if (!piece.exact_domain) continue;
    std::vector<Vector> regenerated;
    Vector prefix;
    enumerate(piece, prefix, regenerated);
    if (regenerated.size() != piece.points) return "wrong number of points";
    for (const Vector& p : regenerated)
      if (!in_exact.insert(p).second) return "pieces overlap at " + text(p);
  }
  std::set<Vector> all;
  for (const Labelled& p : stream.points) {
    all.insert(p.point);
    bool found = false;
    for (std::size_t i = 0; i < folded.pieces.size(); ++i)
      if (contains(folded.pieces[i], p.point) && (folded.pieces[i].exact_domain || !in_exact.contains(p.point))) {
        inside[i].push_back(&p);
        found = true;
      }
    if (!found) return "not covered: " + text(p.point);
  }
  for (const Vector& p : in_exact)
    if (!all.contains(p)) return "a point too many: " + text(p);
  for (std::size_t i = 0; i < folded.pieces.size(); ++i)
    for (std::size_t o = 0; o < stream.shape.outputs; ++o)
      if (const std::string wrong = check_output(folded.pieces[i], inside[i], o, stream.shape); !wrong.empty())
        return "piece " + std::to_string(i) + " output " + std::to_string(o) + ": " + wrong;
  if (sum != stream.points.size() || folded.points != stream.points.size()) return "points are not counted";
  if (widened != folded.widened || gave_up != folded.gave_up) return "flags are wrong";
  return "";
}

}  // namespace loopfold::fold::test_points
