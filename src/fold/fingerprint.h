// Fingerprints: what is remembered of labels along the dimensions in which they are not affine (TOP).
//
// A widened label function with TOP along the dimensions T claims f(x) = h(x_T) + sum of c_q x_q over the others, for
// some function h that nobody keeps. To know that a second polyhedron has the same h, hashes of it are compared. The
// values of h are put in order along the outermost dimension of T, its *top*: element i stands for the coordinate start
// + i there, where start is the coordinate of the polyhedron's anchor. An element is a hash of
// - h at the first point of its slice, minus h at the first point of all, and
// - if T has dimensions inside the top, the fingerprint of the slice along these: start, number of elements, hash.
// So two fingerprints with equal starts and equal hashes after m elements have the same values of h, up to one
// constant, wherever the shorter has values, if it has m of them: rows of different length can be compared. For that
// the hash after each of the first kPrefixes elements is kept; past them only fingerprints of equal length are
// comparable, and for what cannot be compared the answer is "not proven".
//
// A fingerprint may have more elements than there are points that need them, as if h went on there: that asks for more
// equalities, not for fewer.
//
// Hashes have 64 bits. A collision would let a wrong coefficient pass; nothing else does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/wide.h"

namespace loopfold::fold {

class Fingerprint {
 public:
  static constexpr std::size_t kPrefixes = 1024;

  /// Of a function of no dimensions: no elements.
  void clear();
  /// From here on nothing is proven.
  void forget();

  void append(std::uint64_t element) {
    hash_ = mixed(hash_ ^ element) + 0x9e3779b97f4a7c15;
    ++count_;
    if (prefixes_.size() < kPrefixes) prefixes_.push_back(hash_);
  }

  /// An element whose slice has no dimensions inside that are TOP.
  static std::uint64_t element(Wide difference) {
    const std::uint64_t high = static_cast<std::uint64_t>(difference >> 64);
    return mixed(static_cast<std::uint64_t>(difference) + mixed(high + 0x632be59bd9b4e019));
  }
  /// An element whose slice has the fingerprint `inside`, with its first element at `start`.
  static std::uint64_t element(Wide difference, std::int64_t start, const Fingerprint& inside);

  bool known() const { return known_; }
  std::uint64_t count() const { return count_; }

  /// Whether it is proven that both agree as far as both go.
  bool agrees_with(const Fingerprint& other) const;

  std::size_t bytes() const { return prefixes_.size() * sizeof(std::uint64_t); }

 private:
  static std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ value >> 33) * 0xff51afd7ed558ccd;
    value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53;
    return value ^ value >> 33;
  }
  bool hash_after(std::uint64_t elements, std::uint64_t& into) const;

  bool known_ = true;
  std::uint64_t count_ = 0;
  std::uint64_t hash_ = 0;
  std::vector<std::uint64_t> prefixes_;  // hash after 1, 2, 3 ... elements
};

}  // namespace loopfold::fold
