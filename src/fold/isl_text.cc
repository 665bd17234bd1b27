#include "fold/isl_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "support/wide.h"

namespace loopfold::fold {

namespace {

std::string decimal(Wide value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string digits;
  for (; value != 0; value /= 10) {
    const int digit = static_cast<int>(value % 10);
    digits.insert(digits.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
  }
  return negative ? "-" + digits : digits;
}

/// A coordinate of a vector: a variable, or a number.
struct Coordinate {
  std::string name;  // empty: it is the number
  Wide value = 0;
  std::string text() const { return name.empty() ? decimal(value) : name; }
};
constexpr std::string_view kHidden = "h";
using Coordinates = std::vector<Coordinate>;

/// A sum of named terms and a constant, as a person writes it.
class Sum {
 public:
  void add(Wide coefficient, const Coordinate& coordinate) {
    if (coordinate.name.empty())
      constant_ += coefficient * coordinate.value;
    else if (coefficient != 0)
      append(terms_, coefficient, coordinate.name);
  }
  void add(Wide constant) { constant_ += constant; }
  bool is_number() const { return terms_.empty(); }
  Wide number() const { return constant_; }
  std::string text() const {
    if (is_number()) return decimal(constant_);
    std::string text = terms_;
    if (constant_ != 0) append(text, constant_, "");
    return text;
  }

 private:
  static void append(std::string& text, Wide factor, const std::string& name) {
    const Wide size = factor < 0 ? -factor : factor;
    text += text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    text += (size == 1 && !name.empty() ? "" : decimal(size)) + name;
  }
  std::string terms_;
  Wide constant_ = 0;
};

Sum sum_of(const Affine& function, const Coordinates& in, Wide less = 0) {
  Sum sum;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k) sum.add(function.coefficients[k], in[k]);
  sum.add(static_cast<Wide>(function.constant) - less);
  return sum;
}

Wide remainder(Wide value, Wide modulus) { return (value % modulus + modulus) % modulus; }

/// divisor * coordinate, as text.
std::string multiple_text(Wide divisor, const std::string& name) {
  return divisor == 1 ? name : decimal(divisor) + name;
}

/// coordinate - lower is a multiple of the stride.
std::string stride_text(const Range& range, std::size_t k, const Coordinates& in) {
  const Wide stride = static_cast<Wide>(range.divisor) * range.stride;
  Sum lower;
  for (std::size_t p = 0; p < k; ++p)
    if (in[p].name.empty() || range.lower.coefficients[p] % stride != 0)
      lower.add(-static_cast<Wide>(range.lower.coefficients[p]), in[p]);
  lower.add(-static_cast<Wide>(range.lower.constant));
  const Wide rest = remainder(-lower.number(), stride);
  if (lower.is_number()) {
    const std::string own = multiple_text(range.divisor, in[k].name);
    return fmt::format("{} mod {} = {}", range.divisor == 1 ? own : "(" + own + ")", decimal(stride), decimal(rest));
  }
  Sum sum;
  sum.add(range.divisor, in[k]);
  for (std::size_t p = 0; p < k; ++p)
    if (!in[p].name.empty() && range.lower.coefficients[p] % stride != 0)
      sum.add(-static_cast<Wide>(range.lower.coefficients[p]), in[p]);
  sum.add(-rest);
  return fmt::format("({}) mod {} = 0", sum.text(), decimal(stride));
}

/// Coordinates of a piece's points. One that has the same value in all of them is that number.
Coordinates coordinates_of(const Piece& piece, bool drop_first, bool hide_last) {
  Coordinates in;
  const std::size_t count = piece.ranges.size();
  for (std::size_t k = 0; k < count; ++k) {
    if (k == 0 && drop_first) {
      in.emplace_back();
      continue;
    }
    const Sum lower = sum_of(piece.ranges[k].lower, in);
    const Sum upper = sum_of(piece.ranges[k].upper, in);
    if (lower.is_number() && upper.is_number() && lower.number() == upper.number())
      in.push_back({"", lower.number() / piece.ranges[k].divisor});
    else
      in.push_back(
          {k + 1 == count && hide_last ? std::string(kHidden) : "i" + std::to_string(drop_first ? k - 1 : k), 0});
  }
  return in;
}

void add_ranges(const Piece& piece, const Coordinates& in, std::vector<std::string>& into) {
  for (std::size_t k = 0; k < piece.ranges.size(); ++k) {
    if (in[k].name.empty()) continue;
    const Range& range = piece.ranges[k];
    const std::string lower = sum_of(range.lower, in).text();
    const std::string upper = sum_of(range.upper, in).text();
    const std::string own = multiple_text(range.divisor, in[k].name);
    if (lower == upper) {
      into.push_back(own + " = " + lower);
      continue;
    }
    into.push_back(fmt::format("{} <= {} <= {}", lower, own, upper));
    if (range.stride > 1) into.push_back(stride_text(range, k, in));
  }
}

/// `low <= what <= high`, without bounds that were cut to 64 bits.
void add_measured(const std::string& what, std::int64_t low, std::int64_t high, std::vector<std::string>& into) {
  const bool from = low != std::numeric_limits<std::int64_t>::min();
  const bool to = high != std::numeric_limits<std::int64_t>::max();
  if (from && to && low == high)
    into.push_back(fmt::format("{} = {}", what, low));
  else if (from && to)
    into.push_back(fmt::format("{} <= {} <= {}", low, what, high));
  else if (from)
    into.push_back(fmt::format("{} <= {}", low, what));
  else if (to)
    into.push_back(fmt::format("{} <= {}", what, high));
}

/// A coordinate of the producer: a number or a coordinate of the consumer that is shown, if it is always equal to that;
/// else a variable with conditions.
Coordinate producer_coordinate(const Output& output, const std::string& name, bool shared,
                               const Coordinate& shared_with, const Coordinates& in, std::vector<std::string>& into) {
  const Wide divisor = output.divisor;
  const std::string label = multiple_text(divisor, name);
  if (output.affine() && output.modulus == 0) {
    const Sum sum = sum_of(output.value, in);
    const std::string text = sum.text();
    if (divisor == 1) {
      if (sum.is_number()) return {"", sum.number()};
      const auto same = [&](const Coordinate& coordinate) { return coordinate.name == text && text != kHidden; };
      if (std::any_of(in.begin(), in.end(), same)) return {text, 0};
    }
    into.push_back(label + " = " + text);
  } else if (output.affine()) {
    const Wide base = divisor * output.base;
    const std::string within =
        fmt::format("({}) mod {}", sum_of(output.value, in, base).text(), decimal(divisor * output.modulus));
    into.push_back(base == 0 ? label + " = " + within : fmt::format("{} = {} + ({})", label, decimal(base), within));
  } else {
    into.push_back(fmt::format("{} <= {} <= {}", output.minimum, name, output.maximum));
    if (shared) {
      const bool zero = shared_with.name.empty() && shared_with.value == 0;
      add_measured(zero ? "-" + name : shared_with.text() + " - " + name, output.distance_minimum,
                   output.distance_maximum, into);
    }
  }
  return {name, 0};
}

/// The ways in which the producer may come first: for each, what holds. One without conditions if none is needed.
std::vector<std::vector<std::string>> precedence(const Piece& piece, Shape shape, const Coordinates& in,
                                                 const Coordinates& out, bool may_be_equal) {
  bool needed = false;
  for (std::size_t o = 0; o < shape.shared; ++o) needed = needed || !piece.outputs[o].affine();
  if (!needed) return {{}};
  std::vector<std::vector<std::string>> ways;
  std::vector<std::string> equal;
  bool may_go_on = true;
  for (std::size_t o = 0; o < shape.shared && may_go_on; ++o) {
    const Output& output = piece.outputs[o];
    if (output.distance_maximum > 0) {
      ways.push_back(equal);
      if (output.distance_minimum <= 0 || output.affine()) ways.back().push_back(out[o].text() + " < " + in[o].text());
    }
    may_go_on = output.distance_minimum <= 0 && output.distance_maximum >= 0;
    const bool always = output.distance_minimum == 0 && output.distance_maximum == 0;
    if (!always || output.affine()) equal.push_back(out[o].text() + " = " + in[o].text());
  }
  if (may_go_on && may_be_equal) ways.push_back(equal);
  if (ways.empty()) ways.emplace_back();
  return ways;
}

std::string joined(const std::vector<std::string>& parts, const char* with) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : with) + part;
  return text;
}

/// What stands in the brackets.
std::string vector_text(const Coordinates& coordinates, bool drop_first, bool hide_last) {
  std::vector<std::string> shown;
  for (std::size_t k = drop_first ? 1 : 0; k < coordinates.size() - (hide_last ? 1 : 0); ++k)
    shown.push_back(coordinates[k].text());
  return joined(shown, ", ");
}

bool is_hidden(const Coordinates& in) { return !in.empty() && in.back().name == kHidden; }

std::string piece_text(const std::string& vectors, const std::vector<std::string>& conditions, bool hidden) {
  if (conditions.empty()) return vectors;
  const std::string all = joined(conditions, " and ");
  return vectors + " : " + (hidden ? "exists (h: " + all + ")" : all);
}

std::string in_braces(const std::vector<std::string>& pieces) {
  return pieces.empty() ? "{ }" : "{ " + joined(pieces, "; ") + " }";
}

}  // namespace

std::string domain_text(const Folded& folded, std::string_view name, const TextOptions& options) {
  std::vector<std::string> pieces;
  for (const Piece& piece : folded.pieces) {
    const Coordinates in = coordinates_of(piece, options.drop_first_in, options.hide_last_in);
    std::vector<std::string> conditions;
    add_ranges(piece, in, conditions);
    pieces.push_back(
        piece_text(fmt::format("{}[{}]", name, vector_text(in, options.drop_first_in, options.hide_last_in)),
                   conditions, is_hidden(in)));
  }
  return in_braces(pieces);
}

std::string dependence_text(const Folded& folded, Shape shape, std::string_view from, std::string_view to,
                            const TextOptions& options) {
  std::vector<std::string> pieces;
  for (const Piece& piece : folded.pieces) {
    const Coordinates in = coordinates_of(piece, options.drop_first_in, options.hide_last_in);
    std::vector<std::string> conditions;
    add_ranges(piece, in, conditions);
    Coordinates out;
    for (std::size_t o = 0; o < shape.outputs; ++o) {
      const bool shared = o < shape.shared;
      const std::string name = "o" + std::to_string(options.drop_first_out ? o - 1 : o);
      out.push_back(
          o == 0 && options.drop_first_out
              ? Coordinate{}
              : producer_coordinate(piece.outputs[o], name, shared, shared ? in[o] : Coordinate{}, in, conditions));
    }
    const std::string vectors = fmt::format("{}[{}] -> {}[{}]", from, vector_text(out, options.drop_first_out, false),
                                            to, vector_text(in, options.drop_first_in, options.hide_last_in));
    for (const std::vector<std::string>& way : precedence(piece, shape, in, out, options.may_be_equal)) {
      std::vector<std::string> all = conditions;
      all.insert(all.end(), way.begin(), way.end());
      pieces.push_back(piece_text(vectors, all, is_hidden(in)));
    }
  }
  return in_braces(pieces);
}

}  // namespace loopfold::fold
