#include "advise/layout/quasi_affine.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace loopfold::layout {

namespace {

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw std::overflow_error("a number is too large");
  return result;
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw std::overflow_error("a number is too large");
  return result;
}

std::int64_t floor_of(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

QuasiTerm division(QuasiTerm::Kind kind, QuasiAffine inner, std::int64_t divisor) {
  QuasiTerm term;
  term.kind = kind;
  term.inner = std::move(inner);
  term.divisor = divisor;
  return term;
}

/// "+ 3*x" behind something, "3*x" at the beginning.
void append(std::string& text, std::int64_t factor, const std::string& term, const char* times) {
  const bool first = text.empty();
  if (factor < 0)
    text += first ? "-" : " - ";
  else if (!first)
    text += " + ";
  const std::uint64_t size = factor < 0 ? 0 - static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
  text += size == 1 ? term : fmt::format("{}{}{}", size, times, term);
}

void append_constant(std::string& text, std::int64_t constant) {
  if (text.empty())
    text = std::to_string(constant);
  else if (constant != 0)
    text += fmt::format(" {} {}", constant < 0 ? "-" : "+",
                        constant < 0 ? 0 - static_cast<std::uint64_t>(constant) : static_cast<std::uint64_t>(constant));
}

std::string c_division(const QuasiTerm& term, const QuasiAffine::CText& how) {
  const std::string inner = term.inner.c_text(how, true);
  const bool quotient = term.kind == QuasiTerm::Kind::kQuotient;
  if (how.never_negative(term.inner)) return fmt::format("{} {} {}", inner, quotient ? "/" : "%", term.divisor);
  if (quotient) return fmt::format("({0} / {1} - ({0} % {1} < 0))", inner, term.divisor);
  return fmt::format("({0} % {1} + {1}) % {1}", inner, term.divisor);
}

}  // namespace

bool QuasiTerm::same_but_for_factor(const QuasiTerm& other) const {
  return kind == other.kind && name == other.name && divisor == other.divisor && inner == other.inner;
}

bool QuasiTerm::comes_before(const QuasiTerm& other) const {
  if (kind != other.kind) return kind < other.kind;
  if (name != other.name) return name < other.name;
  if (divisor != other.divisor) return divisor < other.divisor;
  return inner < other.inner;
}

QuasiAffine QuasiAffine::name(std::string text) {
  QuasiAffine result;
  QuasiTerm term;
  term.name = std::move(text);
  result.terms_.push_back(std::move(term));
  return result;
}

void QuasiAffine::add(const QuasiTerm& term) {
  const auto before = [](const QuasiTerm& a, const QuasiTerm& b) { return a.comes_before(b); };
  const auto at = std::lower_bound(terms_.begin(), terms_.end(), term, before);
  if (at == terms_.end() || !at->same_but_for_factor(term)) {
    if (term.factor != 0) terms_.insert(at, term);
    return;
  }
  at->factor = sum(at->factor, term.factor);
  if (at->factor == 0) terms_.erase(at);
}

QuasiAffine QuasiAffine::operator+(const QuasiAffine& other) const {
  QuasiAffine result = *this;
  result.constant_ = sum(constant_, other.constant_);
  for (const QuasiTerm& term : other.terms_) result.add(term);
  return result;
}

QuasiAffine QuasiAffine::operator-(const QuasiAffine& other) const { return *this + other * -1; }

QuasiAffine QuasiAffine::operator*(std::int64_t factor) const {
  QuasiAffine result = product(constant_, factor);
  for (QuasiTerm term : terms_) {
    term.factor = product(term.factor, factor);
    result.add(term);
  }
  return result;
}

QuasiAffine QuasiAffine::quotient(std::int64_t divisor) const {
  if (divisor == 1) return *this;
  if (is_constant()) return floor_of(constant_, divisor);
  QuasiAffine result;
  result.add(division(QuasiTerm::Kind::kQuotient, *this, divisor));
  return result;
}

QuasiAffine QuasiAffine::remainder(std::int64_t divisor) const {
  if (divisor == 1) return 0;
  if (is_constant()) return constant_ - floor_of(constant_, divisor) * divisor;
  QuasiAffine result;
  result.add(division(QuasiTerm::Kind::kRemainder, *this, divisor));
  return result;
}

bool QuasiAffine::operator==(const QuasiAffine& other) const {
  const auto same = [](const QuasiTerm& a, const QuasiTerm& b) {
    return a.factor == b.factor && a.same_but_for_factor(b);
  };
  return constant_ == other.constant_ &&
         std::equal(terms_.begin(), terms_.end(), other.terms_.begin(), other.terms_.end(), same);
}

bool QuasiAffine::operator<(const QuasiAffine& other) const {
  if (constant_ != other.constant_) return constant_ < other.constant_;
  const auto before = [](const QuasiTerm& a, const QuasiTerm& b) {
    return a.factor != b.factor ? a.factor < b.factor : a.comes_before(b);
  };
  return std::lexicographical_compare(terms_.begin(), terms_.end(), other.terms_.begin(), other.terms_.end(), before);
}

bool QuasiAffine::is_name() const {
  return constant_ == 0 && terms_.size() == 1 && terms_[0].factor == 1 && terms_[0].kind == QuasiTerm::Kind::kName;
}

bool QuasiAffine::is_affine() const {
  return std::all_of(terms_.begin(), terms_.end(),
                     [](const QuasiTerm& term) { return term.kind == QuasiTerm::Kind::kName; });
}

std::set<std::string> QuasiAffine::names() const {
  std::set<std::string> result;
  add_names(result);
  return result;
}

void QuasiAffine::add_names(std::set<std::string>& names) const {
  for (const QuasiTerm& term : terms_) {
    if (term.kind == QuasiTerm::Kind::kName)
      names.insert(term.name);
    else
      term.inner.add_names(names);
  }
}

QuasiAffine QuasiAffine::substituted(const std::map<std::string, QuasiAffine>& by) const {
  QuasiAffine result = constant_;
  for (const QuasiTerm& term : terms_) {
    QuasiAffine value;
    if (term.kind == QuasiTerm::Kind::kName) {
      const auto found = by.find(term.name);
      value = found == by.end() ? name(term.name) : found->second;
    } else if (term.kind == QuasiTerm::Kind::kQuotient) {
      value = term.inner.substituted(by).quotient(term.divisor);
    } else {
      value = term.inner.substituted(by).remainder(term.divisor);
    }
    result = result + value * term.factor;
  }
  return result;
}

std::int64_t QuasiAffine::evaluated(const std::map<std::string, std::int64_t>& values) const {
  std::int64_t result = constant_;
  for (const QuasiTerm& term : terms_) {
    std::int64_t value = 0;
    if (term.kind == QuasiTerm::Kind::kName) {
      value = values.at(term.name);
    } else {
      const std::int64_t inner = term.inner.evaluated(values);
      const std::int64_t quotient = floor_of(inner, term.divisor);
      value = term.kind == QuasiTerm::Kind::kQuotient ? quotient : inner - quotient * term.divisor;
    }
    result = sum(result, product(value, term.factor));
  }
  return result;
}

std::string QuasiAffine::isl_text() const {
  std::string text;
  for (const QuasiTerm& term : terms_) {
    std::string part = term.name;
    if (term.kind == QuasiTerm::Kind::kQuotient)
      part = fmt::format("floor(({})/{})", term.inner.isl_text(), term.divisor);
    if (term.kind == QuasiTerm::Kind::kRemainder)
      part = fmt::format("(({}) mod {})", term.inner.isl_text(), term.divisor);
    append(text, term.factor, part, "*");
  }
  append_constant(text, constant_);
  return text;
}

std::string QuasiAffine::c_text(const CText& how, bool operand) const {
  std::string text;
  for (const QuasiTerm& term : terms_) {
    std::string part = term.kind == QuasiTerm::Kind::kName ? how.name(term.name) : c_division(term, how);
    if (term.kind != QuasiTerm::Kind::kName && term.factor != 1 && term.factor != -1) part = "(" + part + ")";
    append(text, term.factor, part, " * ");
  }
  append_constant(text, constant_);
  const bool alone = is_name() || (terms_.empty() && constant_ >= 0);
  return operand && !alone ? "(" + text + ")" : text;
}

}  // namespace loopfold::layout
