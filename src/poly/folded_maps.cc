#include "poly/folded_maps.h"

#include <isl/mat.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include "poly/pieces.h"

namespace loopfold::poly {

namespace {

using fold::Affine;
using fold::Output;
using fold::Piece;
using fold::TextOptions;
using Row = std::vector<Wide>;

constexpr const char* kNothing = "{ }";  // isl refuses to read it, which a budget then knows of

/// A number, or a column of the rows.
struct Coordinate {
  bool number = true;
  Wide value = 0;
  std::size_t column = 0;  // 0: it is not shown
};

class PieceRows {
 public:
  PieceRows(const Piece& piece, fold::Shape shape, const TextOptions& options)
      : piece_(piece), shape_(shape), options_(options) {
    producer_ = shape.outputs - (options.drop_first_out ? 1U : 0U);
    const std::size_t left_out = (options.drop_first_in ? 1U : 0U) + (options.hide_last_in ? 1U : 0U);
    shown_ = width_ = 1 + producer_ + piece.ranges.size() - left_out;
  }

  void add_to(std::vector<LinearPiece>& pieces) {
    find_point();
    add_ranges();
    add_producer();
    for (const Rows& way : precedence()) {
      LinearPiece& made = pieces.emplace_back();
      made.quantified = width_ - shown_;
      put(conditions_.equalities, made.equalities);
      put(way.equalities, made.equalities);
      put(conditions_.inequalities, made.inequalities);
      put(way.inequalities, made.inequalities);
    }
  }

 private:
  struct Rows {
    std::vector<Row> equalities;
    std::vector<Row> inequalities;
  };

  static void add(Row& row, Wide factor, const Coordinate& coordinate) {
    if (coordinate.number)
      row[0] += factor * coordinate.value;
    else
      row[coordinate.column] += factor;
  }

  Row row_of(const Affine& function) const {
    Row row(width_);
    row[0] = function.constant;
    for (std::size_t k = 0; k < function.coefficients.size(); ++k) add(row, function.coefficients[k], point_[k]);
    return row;
  }

  /// factor * coordinate - row
  static Row less(Wide factor, const Coordinate& coordinate, Row row) {
    for (Wide& number : row) number = -number;
    add(row, factor, coordinate);
    return row;
  }
  /// a - b + constant
  Row difference(const Coordinate& a, const Coordinate& b, Wide constant = 0) const {
    Row row(width_);
    row[0] = constant;
    add(row, 1, a);
    add(row, -1, b);
    return row;
  }

  static bool is_number(const Row& row) {
    return std::all_of(row.begin() + 1, row.end(), [](Wide number) { return number == 0; });
  }
  void equate(Row row) { conditions_.equalities.push_back(std::move(row)); }
  void bound(Row row) { conditions_.inequalities.push_back(std::move(row)); }
  /// The row is a multiple of the number.
  void divide(Row row, Wide number) {
    row.resize(++width_);
    row.back() = -number;
    equate(std::move(row));
  }

  /// Rows that were made before a quantified variable do not have its column.
  void put(const std::vector<Row>& rows, std::vector<Wide>& into) const {
    for (const Row& row : rows) {
      into.insert(into.end(), row.begin(), row.end());
      into.resize(into.size() + width_ - row.size());
    }
  }

  /// Coordinates that are the same in the whole piece are numbers.
  void find_point() {
    const std::size_t count = piece_.ranges.size();
    for (std::size_t k = 0; k < count; ++k) {
      Coordinate own;
      if (k > 0 || !options_.drop_first_in) {
        const Row lower = row_of(piece_.ranges[k].lower);
        own.number = is_number(lower) && lower == row_of(piece_.ranges[k].upper);
        if (own.number) own.value = lower[0] / piece_.ranges[k].divisor;
        if (k + 1 < count || !options_.hide_last_in)
          own.column = 1 + producer_ + k - (options_.drop_first_in ? 1 : 0);
        else if (!own.number)
          own.column = width_++;
      }
      point_.push_back(own);
    }
  }

  void add_ranges() {
    for (std::size_t k = 0; k < piece_.ranges.size(); ++k) {
      const Coordinate& own = point_[k];
      if (own.column == 0) continue;
      if (own.number) {
        Row row(width_);
        row[0] = -own.value;
        row[own.column] = 1;
        equate(std::move(row));
        continue;
      }
      const fold::Range& range = piece_.ranges[k];
      const Row lower = row_of(range.lower);
      Row upper = row_of(range.upper);
      const bool one = lower == upper;
      const Wide divisor = range.divisor;
      add(upper, -divisor, own);
      if (one) {
        equate(std::move(upper));
        continue;
      }
      bound(less(divisor, own, lower));
      bound(std::move(upper));
      if (range.stride > 1) divide(less(divisor, own, lower), divisor * range.stride);
    }
  }

  void add_producer() {
    for (std::size_t o = 0; o < shape_.outputs; ++o) {
      const Output& output = piece_.outputs[o];
      Coordinate& own = out_.emplace_back();
      if (o == 0 && options_.drop_first_out) continue;
      own.number = false;
      own.column = 1 + o - (options_.drop_first_out ? 1 : 0);
      if (!output.affine())
        add_measured(o);
      else if (output.modulus == 0)
        equate(less(output.divisor, own, row_of(output.value)));
      else
        add_modular(output, own);
    }
  }

  /// divisor * own is value modulo so much, and in one round from the base on.
  void add_modular(const Output& output, const Coordinate& own) {
    const Wide base = static_cast<Wide>(output.divisor) * output.base;
    const Wide modulus = static_cast<Wide>(output.divisor) * output.modulus;
    const auto number = [](Wide value) { return Coordinate{true, value, 0}; };
    Row above = difference(number(-base), number(0));
    add(above, output.divisor, own);
    Row below = difference(number(base), number(0), modulus - 1);
    add(below, -static_cast<Wide>(output.divisor), own);
    bound(std::move(above));
    bound(std::move(below));
    divide(less(output.divisor, own, row_of(output.value)), modulus);
  }

  /// What was measured about a coordinate with a TOP, without bounds of distances that were cut to 64 bits.
  void add_measured(std::size_t o) {
    const Output& output = piece_.outputs[o];
    const auto number = [](Wide value) { return Coordinate{true, value, 0}; };
    bound(difference(out_[o], number(output.minimum)));
    bound(difference(number(output.maximum), out_[o]));
    if (o >= shape_.shared) return;
    if (output.distance_minimum != std::numeric_limits<std::int64_t>::min())
      bound(difference(point_[o], out_[o], -static_cast<Wide>(output.distance_minimum)));
    if (output.distance_maximum != std::numeric_limits<std::int64_t>::max())
      bound(difference(out_[o], point_[o], output.distance_maximum));
  }

  /// The ways in which the producer may come first: what holds, for each.
  std::vector<Rows> precedence() const {
    bool needed = false;
    for (std::size_t o = 0; o < shape_.shared; ++o) needed = needed || !piece_.outputs[o].affine();
    std::vector<Rows> ways;
    Rows equal;
    bool may_go_on = true;
    for (std::size_t o = 0; needed && o < shape_.shared && may_go_on; ++o) {
      const Output& output = piece_.outputs[o];
      if (output.distance_maximum > 0) {
        ways.push_back(equal);
        if (output.distance_minimum <= 0 || output.affine())
          ways.back().inequalities.push_back(difference(point_[o], out_[o], -1));
      }
      may_go_on = output.distance_minimum <= 0 && output.distance_maximum >= 0;
      const bool always = output.distance_minimum == 0 && output.distance_maximum == 0;
      if (!always || output.affine()) equal.equalities.push_back(difference(out_[o], point_[o]));
    }
    if (needed && may_go_on && options_.may_be_equal) ways.push_back(equal);
    if (ways.empty()) ways.emplace_back();
    return ways;
  }

  const Piece& piece_;
  const fold::Shape shape_;
  const TextOptions& options_;
  std::size_t producer_ = 0;  // columns
  std::size_t shown_ = 0;     // columns, and the constant
  std::size_t width_ = 0;     // with the quantified variables so far
  std::vector<Coordinate> point_;
  std::vector<Coordinate> out_;
  Rows conditions_;
};

LinearPieces pieces_of(const fold::Folded& folded, fold::Shape shape, const TextOptions& options) {
  LinearPieces pieces;
  if (folded.pieces.empty()) return pieces;
  pieces.producer = shape.outputs - (options.drop_first_out ? 1U : 0U);
  pieces.point =
      folded.pieces.front().ranges.size() - (options.drop_first_in ? 1U : 0U) - (options.hide_last_in ? 1U : 0U);
  for (const Piece& piece : folded.pieces) PieceRows(piece, shape, options).add_to(pieces.all);
  return pieces;
}

Isl<isl_val> value_of(isl_ctx* isl, Wide number) {
  if (number == static_cast<Wide>(static_cast<long>(number)))
    return Isl<isl_val>(isl_val_int_from_si(isl, static_cast<long>(number)));
  const bool negative = number < 0;
  const Wide size = negative ? -number : number;
  const std::array<std::uint64_t, 2> chunks{static_cast<std::uint64_t>(size), static_cast<std::uint64_t>(size >> 64)};
  Isl<isl_val> value(isl_val_int_from_chunks(isl, chunks.size(), sizeof chunks[0], chunks.data()));
  return negative ? Isl<isl_val>(isl_val_neg(value.release())) : value;
}

isl_mat* matrix_of(isl_ctx* isl, std::span<const Wide> numbers, std::size_t width) {
  const std::size_t rows = numbers.size() / width;
  isl_mat* matrix = isl_mat_alloc(isl, static_cast<unsigned>(rows), static_cast<unsigned>(width));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Wide number = numbers[i];
    const auto row = static_cast<int>(i / width);
    const auto column = static_cast<int>(i % width);
    matrix = number == static_cast<Wide>(static_cast<int>(number))
                 ? isl_mat_set_element_si(matrix, row, column, static_cast<int>(number))
                 : isl_mat_set_element_val(matrix, row, column, value_of(isl, number).release());
  }
  return matrix;
}

isl_basic_set* basic_set_of(isl_ctx* isl, const LinearPiece& piece, const Isl<isl_space>& space, std::size_t width) {
  return isl_basic_set_from_constraint_matrices(space.copy(), matrix_of(isl, piece.equalities, width),
                                                matrix_of(isl, piece.inequalities, width), isl_dim_cst, isl_dim_param,
                                                isl_dim_set, isl_dim_div);
}

isl_basic_map* basic_map_of(isl_ctx* isl, const LinearPiece& piece, const Isl<isl_space>& space, std::size_t width) {
  return isl_basic_map_from_constraint_matrices(space.copy(), matrix_of(isl, piece.equalities, width),
                                                matrix_of(isl, piece.inequalities, width), isl_dim_cst, isl_dim_param,
                                                isl_dim_in, isl_dim_out, isl_dim_div);
}

Isl<isl_space> named(Isl<isl_space> space, isl_dim_type side, const std::string& name) {
  return name.empty() ? space : Isl<isl_space>(isl_space_set_tuple_name(space.release(), side, name.c_str()));
}
}  // namespace

LinearPieces domain_pieces(const fold::Folded& folded, const TextOptions& options) {
  TextOptions own = options;
  own.drop_first_out = false;
  return pieces_of(folded, {}, own);
}

LinearPieces dependence_pieces(const fold::Folded& folded, fold::Shape shape, const TextOptions& options) {
  return pieces_of(folded, shape, options);
}

LinearPieces with_equal_first(LinearPieces pieces, std::size_t count) {
  const std::size_t own = 1 + pieces.producer;  // the first column of the point
  for (LinearPiece& piece : pieces.all) {
    const std::size_t width = own + pieces.point + piece.quantified;
    for (std::vector<Wide>* const rows : {&piece.equalities, &piece.inequalities}) {
      std::vector<Wide> left;
      left.reserve(rows->size());
      for (std::size_t first = 0; first < rows->size(); first += width) {
        const auto row = rows->begin() + static_cast<std::ptrdiff_t>(first);
        for (std::size_t k = 0; k < count; ++k)
          row[static_cast<std::ptrdiff_t>(own + k)] += row[static_cast<std::ptrdiff_t>(1 + k)];
        left.push_back(*row);
        left.insert(left.end(), row + static_cast<std::ptrdiff_t>(1 + count), row + static_cast<std::ptrdiff_t>(width));
      }
      *rows = std::move(left);
    }
  }
  pieces.producer -= count;
  return pieces;
}

Isl<isl_set> set_of(isl_ctx* isl, const LinearPieces& pieces, const std::string& name) {
  if (pieces.empty()) return Isl<isl_set>(isl_set_read_from_str(isl, kNothing));
  const Isl<isl_space> space =
      named(Isl<isl_space>(isl_space_set_alloc(isl, 0, static_cast<unsigned>(pieces.point))), isl_dim_set, name);
  SetUnion all(Isl<isl_set>(isl_set_empty(space.copy())));
  for (const LinearPiece& piece : pieces.all)
    all.add(basic_set_of(isl, piece, space, 1 + pieces.point + piece.quantified));
  return all.take();
}

Isl<isl_map> map_of(isl_ctx* isl, const LinearPieces& pieces, const std::string& from, const std::string& to) {
  if (pieces.empty()) return Isl<isl_map>(isl_map_read_from_str(isl, kNothing));
  Isl<isl_space> space(
      isl_space_alloc(isl, 0, static_cast<unsigned>(pieces.producer), static_cast<unsigned>(pieces.point)));
  space = named(named(std::move(space), isl_dim_in, from), isl_dim_out, to);
  MapUnion all(Isl<isl_map>(isl_map_empty(space.copy())));
  for (const LinearPiece& piece : pieces.all)
    all.add(basic_map_of(isl, piece, space, 1 + pieces.producer + pieces.point + piece.quantified));
  return all.take();
}

}  // namespace loopfold::poly
