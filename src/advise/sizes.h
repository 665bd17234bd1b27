// Sizes instead of large numbers, for the scheduler.
//
// What was folded knows how large the problem was: i + j <= 268, i >= 266. The scheduler solves integer programs whose
// numbers are these, and where there are several it may not come to an end. Written as a program would be, with a
// parameter for the size (i + j <= n, i >= n - 2), the same question is easy, and its answers are those that a person
// expects. An order that keeps dependences for every n keeps them for the n that ran; so what is asked about is more,
// never less.
//
// Numbers close to each other are one size with small differences; so are halves, thirds and so on of a size, where
// what is said about them is multiplied. Where there are too many sizes, numbers stay numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "poly/isl.h"

namespace loopfold::advise {

class Sizes {
 public:
  /// Looks for large numbers in the constraints of a relation.
  void look_at(const poly::Isl<isl_map>& map);
  /// When all were seen: which sizes there are.
  void choose();
  /// The relation with parameters for sizes.
  poly::Isl<isl_map> put_into(const poly::Isl<isl_map>& map) const;
  /// By parameter: what it stands for.
  const std::vector<std::int64_t>& values() const { return values_; }

 private:
  /// A number is a size, but for a small difference, if it is multiplied.
  struct Part {
    std::size_t size = 0;
    std::int64_t times = 1;
  };
  std::optional<Part> find(std::int64_t number) const;

  std::set<std::int64_t> seen_;
  std::vector<std::int64_t> values_;
};

}  // namespace loopfold::advise
