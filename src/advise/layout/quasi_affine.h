// Quasi-affine expressions: what the dimensions of a layout map are made of.
//
// An expression is a constant plus multiples of terms; a term is a name (an index of the array, or a size of the
// program), floor(x / d) or x mod d, with x again an expression and d a positive number. That is what isl calls
// quasi-affine, and it is what permutation, tiling, skewing, reversal and interleaving need:
//
//     e1/32      tile number           e1 % 32     place in the tile           e1 + e2     skewed
//
// Division rounds down, and a remainder is never negative, as in isl; C rounds towards zero, so c_text() asks whether
// an operand may be negative and writes what is right for it.
//
// The sum is kept in a canonical order without zero multiples, so two equal sums are equal as values (x/2 and (2*x)/4
// are not recognised as equal: for that there is isl). All numbers are 64 bits; what would overflow throws
// std::overflow_error, which the parser makes an error of the user's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace loopfold::layout {

struct QuasiTerm;

class QuasiAffine {
 public:
  QuasiAffine();
  QuasiAffine(std::int64_t constant);  // NOLINT: a number is an expression
  QuasiAffine(const QuasiAffine&);
  QuasiAffine(QuasiAffine&&) noexcept;
  QuasiAffine& operator=(const QuasiAffine&);
  QuasiAffine& operator=(QuasiAffine&&) noexcept;
  ~QuasiAffine();
  static QuasiAffine name(std::string text);

  QuasiAffine operator+(const QuasiAffine& other) const;
  QuasiAffine operator-(const QuasiAffine& other) const;
  QuasiAffine operator*(std::int64_t factor) const;
  /// Rounded down. The divisor is positive.
  QuasiAffine quotient(std::int64_t divisor) const;
  /// From 0 to divisor - 1.
  QuasiAffine remainder(std::int64_t divisor) const;

  bool operator==(const QuasiAffine& other) const;
  /// Any order that is the same in every run.
  bool operator<(const QuasiAffine& other) const;

  bool is_constant() const { return terms_.empty(); }
  std::int64_t constant() const { return constant_; }
  const std::vector<QuasiTerm>& terms() const { return terms_; }
  /// It is one name and nothing else.
  bool is_name() const;
  /// It has no quotients and remainders.
  bool is_affine() const;
  std::set<std::string> names() const;
  void add_names(std::set<std::string>& names) const;

  /// Each name in `by` replaced by an expression.
  QuasiAffine substituted(const std::map<std::string, QuasiAffine>& by) const;
  /// The value for these values of the names; std::out_of_range if one is missing.
  std::int64_t evaluated(const std::map<std::string, std::int64_t>& values) const;

  /// As isl (and iscc) reads it.
  std::string isl_text() const;

  struct CText {
    std::function<std::string(const std::string&)> name;     // what a name is written as
    std::function<bool(const QuasiAffine&)> never_negative;  // of an operand of / or %
  };
  /// As a C expression that needs no parentheses if it is a single name, and has them if `operand` and it is a sum.
  std::string c_text(const CText& how, bool operand = false) const;

 private:
  void add(const QuasiTerm& term);

  std::int64_t constant_ = 0;
  std::vector<QuasiTerm> terms_;
};

struct QuasiTerm {
  enum class Kind { kName, kQuotient, kRemainder };
  std::int64_t factor = 1;
  Kind kind = Kind::kName;
  std::string name;   // of kName
  QuasiAffine inner;  // of the others
  std::int64_t divisor = 1;

  bool same_but_for_factor(const QuasiTerm& other) const;
  bool comes_before(const QuasiTerm& other) const;
};

// Here, because a vector of terms needs to know what a term is.
inline QuasiAffine::QuasiAffine() = default;
inline QuasiAffine::QuasiAffine(std::int64_t constant) : constant_(constant) {}
inline QuasiAffine::QuasiAffine(const QuasiAffine&) = default;
inline QuasiAffine::QuasiAffine(QuasiAffine&&) noexcept = default;
inline QuasiAffine& QuasiAffine::operator=(const QuasiAffine&) = default;
inline QuasiAffine& QuasiAffine::operator=(QuasiAffine&&) noexcept = default;
inline QuasiAffine::~QuasiAffine() = default;

}  // namespace loopfold::layout
