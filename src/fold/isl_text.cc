#include "fold/isl_text.h"

#include <fmt/format.h>

#include <limits>
#include <utility>
#include <vector>

#include "support/wide.h"

namespace loopfold::fold {

namespace {

using Names = std::vector<std::string>;  // of coordinates; empty: it is 0

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

/// A sum of named terms and a constant, as a person writes it.
class Sum {
 public:
  void add(Wide coefficient, const std::string& name) {
    if (coefficient == 0 || name.empty()) return;
    const Wide size = coefficient < 0 ? -coefficient : coefficient;
    append(coefficient < 0, (size == 1 ? "" : decimal(size)) + name);
  }
  void add(Wide constant) {
    if (constant != 0) append(constant < 0, decimal(constant < 0 ? -constant : constant));
  }
  std::string text() const { return text_.empty() ? "0" : text_; }

 private:
  void append(bool negative, const std::string& term) {
    if (text_.empty())
      text_ = (negative ? "-" : "") + term;
    else
      text_ += (negative ? " - " : " + ") + term;
  }
  std::string text_;
};

Sum sum_of(const Affine& function, const Names& names, Wide less = 0) {
  Sum sum;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k) sum.add(function.coefficients[k], names[k]);
  sum.add(static_cast<Wide>(function.constant) - less);
  return sum;
}

Wide remainder(Wide value, Wide modulus) { return (value % modulus + modulus) % modulus; }

/// coordinate - lower is a multiple of the stride.
std::string stride_text(const Range& range, std::size_t k, const Names& names) {
  Sum sum;
  sum.add(1, names[k]);
  bool plain = true;
  for (std::size_t p = 0; p < k; ++p) {
    if (range.lower.coefficients[p] % range.stride == 0 || names[p].empty()) continue;
    sum.add(-static_cast<Wide>(range.lower.coefficients[p]), names[p]);
    plain = false;
  }
  const Wide rest = remainder(range.lower.constant, range.stride);
  if (plain) return fmt::format("{} mod {} = {}", names[k], range.stride, decimal(rest));
  sum.add(-rest);
  return fmt::format("({}) mod {} = 0", sum.text(), range.stride);
}

void add_ranges(const Piece& piece, const Names& names, std::vector<std::string>& into) {
  for (std::size_t k = 0; k < piece.ranges.size(); ++k) {
    if (names[k].empty()) continue;
    const Range& range = piece.ranges[k];
    const std::string lower = sum_of(range.lower, names).text();
    const std::string upper = sum_of(range.upper, names).text();
    if (lower == upper) {
      into.push_back(names[k] + " = " + lower);
      continue;
    }
    into.push_back(fmt::format("{} <= {} <= {}", lower, names[k], upper));
    if (range.stride > 1) into.push_back(stride_text(range, k, names));
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

void add_output(const Output& output, const std::string& name, const std::string& shared_with, bool shared,
                const Names& names, std::vector<std::string>& into) {
  if (name.empty()) return;
  const Wide divisor = output.divisor;
  const std::string label = divisor == 1 ? name : decimal(divisor) + name;
  if (output.affine() && output.modulus == 0) {
    into.push_back(label + " = " + sum_of(output.value, names).text());
  } else if (output.affine()) {
    const Wide base = divisor * output.base;
    const std::string within =
        fmt::format("({}) mod {}", sum_of(output.value, names, base).text(), decimal(divisor * output.modulus));
    into.push_back(base == 0 ? label + " = " + within : fmt::format("{} = {} + ({})", label, decimal(base), within));
  } else {
    into.push_back(fmt::format("{} <= {} <= {}", output.minimum, name, output.maximum));
    if (shared)
      add_measured(shared_with.empty() ? "-" + name : shared_with + " - " + name, output.distance_minimum,
                   output.distance_maximum, into);
  }
}

std::string or_zero(const std::string& name) { return name.empty() ? "0" : name; }

/// The ways in which the producer may come first: for each, what holds. One without conditions if none is needed.
std::vector<std::vector<std::string>> precedence(const Piece& piece, Shape shape, const Names& in, const Names& out,
                                                 bool may_be_equal) {
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
      if (output.distance_minimum <= 0 || output.affine())
        ways.back().push_back(or_zero(out[o]) + " < " + or_zero(in[o]));
    }
    may_go_on = output.distance_minimum <= 0 && output.distance_maximum >= 0;
    const bool always = output.distance_minimum == 0 && output.distance_maximum == 0;
    if (!always || output.affine()) equal.push_back(or_zero(out[o]) + " = " + or_zero(in[o]));
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

/// Names of `count` coordinates; `shown` gets those that are written in the vector.
Names named(std::size_t count, char letter, bool drop_first, bool hide_last, std::vector<std::string>& shown) {
  Names names;
  for (std::size_t k = 0; k < count; ++k) {
    if (k == 0 && drop_first) {
      names.emplace_back();
    } else if (k + 1 == count && hide_last) {
      names.emplace_back("h");
    } else {
      names.push_back(letter + std::to_string(shown.size()));
      shown.push_back(names.back());
    }
  }
  return names;
}

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
    std::vector<std::string> shown;
    const Names names = named(piece.ranges.size(), 'i', options.drop_first_in, options.hide_last_in, shown);
    std::vector<std::string> conditions;
    add_ranges(piece, names, conditions);
    pieces.push_back(piece_text(fmt::format("{}[{}]", name, joined(shown, ", ")), conditions, options.hide_last_in));
  }
  return in_braces(pieces);
}

std::string dependence_text(const Folded& folded, Shape shape, std::string_view from, std::string_view to,
                            const TextOptions& options) {
  std::vector<std::string> pieces;
  for (const Piece& piece : folded.pieces) {
    std::vector<std::string> shown_in;
    std::vector<std::string> shown_out;
    const Names in = named(shape.dimensions, 'i', options.drop_first_in, options.hide_last_in, shown_in);
    const Names out = named(shape.outputs, 'o', options.drop_first_out, false, shown_out);
    const std::string vectors =
        fmt::format("{}[{}] -> {}[{}]", from, joined(shown_out, ", "), to, joined(shown_in, ", "));
    std::vector<std::string> conditions;
    add_ranges(piece, in, conditions);
    for (std::size_t o = 0; o < shape.outputs; ++o) {
      const bool shared = o < shape.shared;
      add_output(piece.outputs[o], out[o], shared ? in[o] : "", shared, in, conditions);
    }
    for (const std::vector<std::string>& way : precedence(piece, shape, in, out, options.may_be_equal)) {
      std::vector<std::string> all = conditions;
      all.insert(all.end(), way.begin(), way.end());
      pieces.push_back(piece_text(vectors, all, options.hide_last_in));
    }
  }
  return in_braces(pieces);
}

}  // namespace loopfold::fold
