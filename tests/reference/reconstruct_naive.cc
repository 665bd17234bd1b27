// The slow reference. The essay is in reconstruct_naive.h.
#include "reference/reconstruct_naive.h"

#include <map>

#include "support/wide.h"

namespace loopfold::reconstruct::reference {

namespace {

using Vector = std::vector<std::int64_t>;

/// An affine function that is being pinned down by its values: rows of a linear system in echelon form, over integers.
class Affine {
 public:
  explicit Affine(std::size_t variables) : columns_(variables + 2) {}

  /// False if no affine function has this value there and all those that were given before elsewhere.
  bool require(const Vector& at, std::int64_t value) {
    std::vector<Wide> row = reduced(at, value);
    const std::size_t lead = leading(row);
    if (lead + 1 == columns_) return row.back() == 0;
    rows_[lead] = row;
    return true;
  }

  /// Could it be `value` or more there?
  bool can_reach(const Vector& at, std::int64_t value) const {
    const std::vector<Wide> row = reduced(at, value);
    if (leading(row) + 1 != columns_) return true;
    return positive_ ? row.back() <= 0 : row.back() >= 0;
  }

 private:
  /// (1, at, value) after elimination with the rows so far: zeros but for the last if the value there is determined.
  std::vector<Wide> reduced(const Vector& at, std::int64_t value) const {
    std::vector<Wide> row{1};
    row.insert(row.end(), at.begin(), at.end());
    row.push_back(value);
    positive_ = true;
    for (std::size_t k = 0; k + 1 < columns_; ++k) {
      const auto pivot = rows_.find(k);
      if (row[k] == 0 || pivot == rows_.end()) continue;
      const Wide by = pivot->second[k];
      const Wide factor = row[k];
      if (by < 0) positive_ = !positive_;
      for (std::size_t j = 0; j < columns_; ++j) row[j] = row[j] * by - pivot->second[j] * factor;
    }
    return row;
  }

  std::size_t leading(const std::vector<Wide>& row) const {
    std::size_t k = 0;
    while (k + 1 < columns_ && row[k] == 0) ++k;
    return k;
  }

  std::size_t columns_;
  std::map<std::size_t, std::vector<Wide>> rows_;
  mutable bool positive_ = true;
};

/// Can these be the first index vectors of a nest (`ended`: all of them)?
bool consistent(const std::vector<Vector>& vectors, std::size_t n, bool ended) {
  for (std::size_t m = 0; m < n; ++m) {
    Affine bound(m);
    for (std::size_t k = 0; k + 1 < vectors.size(); ++k) {
      bool same_visit = true;
      for (std::size_t r = 0; r < m; ++r) same_visit &= vectors[k][r] == vectors[k + 1][r];
      const Vector outer(vectors[k].begin(), vectors[k].begin() + static_cast<std::ptrdiff_t>(m));
      if (!same_visit && !bound.require(outer, vectors[k][m])) return false;
    }
    const Vector& last = vectors.back();
    const Vector outer(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(m));
    if (ended ? !bound.require(outer, last[m]) : !bound.can_reach(outer, last[m])) return false;
  }
  return true;
}

class Explorer {
 public:
  Explorer(const std::vector<std::uint64_t>& addresses, std::size_t n, std::uint64_t& steps)
      : addresses_(addresses), n_(n), c_(n), steps_(steps) {}

  bool explore() {
    vectors_.assign(1, Vector(n_, 0));
    return extend();
  }

 private:
  std::uint64_t address(const Vector& vector, std::size_t loops) const {
    std::uint64_t sum = addresses_[0];
    for (std::size_t l = 0; l < loops; ++l)
      if (vector[l] != 0) sum += *c_[l] * static_cast<std::uint64_t>(vector[l]);
    return sum;
  }

  bool extend() {
    if (steps_ == 0) return false;
    --steps_;
    const bool ended = vectors_.size() == addresses_.size();
    if (!consistent(vectors_, n_, ended)) return false;
    if (ended) return true;
    const std::uint64_t next = addresses_[vectors_.size()];
    for (std::size_t l = n_; l-- > 0;) {
      Vector vector = vectors_.back();
      ++vector[l];
      for (std::size_t m = l + 1; m < n_; ++m) vector[m] = 0;
      const bool is_new = !c_[l];
      if (is_new) c_[l] = next - address(vector, l);
      if (address(vector, l + 1) == next) {
        vectors_.push_back(vector);
        if (extend()) return true;
        vectors_.pop_back();
      }
      if (is_new) c_[l].reset();
    }
    return false;
  }

  const std::vector<std::uint64_t>& addresses_;
  std::size_t n_;
  std::vector<std::optional<std::uint64_t>> c_;
  std::vector<Vector> vectors_;
  std::uint64_t& steps_;
};

}  // namespace

std::optional<std::size_t> fewest_levels(const std::vector<std::uint64_t>& addresses, std::size_t max_levels,
                                         std::uint64_t max_steps) {
  for (std::size_t n = 0; n <= max_levels; ++n) {
    std::uint64_t steps = max_steps;
    if (Explorer(addresses, n, steps).explore()) return n;
    if (steps == 0) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace loopfold::reconstruct::reference
