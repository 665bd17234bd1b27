// How an array can be stored: its dimensions in another order, a structure's fields in arrays of their own, rows with
// cells left over at their ends (papers/003, section 3.1).
//
// All layouts here are one-to-one by construction: a permutation of dimensions, fields apart, gaps. The options of an
// array are all of them that its shape allows; padding only where rows are such that elements below each other fall
// into the same places of a cache.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advise/arrays.h"
#include "profile/profile.h"

namespace loopfold::advise {

inline constexpr std::size_t kMostDimensions = 4;

/// How an array is stored.
struct Layout {
  std::uint32_t object = 0;
  std::vector<std::uint32_t> order;  // of the dimensions (the blocks first), outermost first
  bool apart = false;                // a structure's fields in arrays of their own
  std::uint32_t pad = 0;             // elements left over behind each row
  bool is_identity(const Array& array) const;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// With the blocks, if there are several.
std::size_t dimensions_of(const Array& array);
std::uint64_t extent_of(const Array& array, std::size_t dimension);

Layout identity_of(const Array& array);

/// Why an array has no other layout; empty: it has.
std::string no_layouts(const Array& array, const profile::Profile& profile);

/// All layouts of an array, as it is first.
std::vector<Layout> layouts_of(const Array& array);

/// Bytes from one element to the next, by dimension of the array. As it is, these are the array's own.
std::vector<double> strides_of(const Layout& layout, const Array& array, std::uint64_t access_size);

/// "{ A[i0, i1] -> [i1, i0] }", as isl reads it.
std::string layout_map(const Layout& layout, const Array& array, const profile::Object& object);

/// "A[100][120] of 8 bytes by columns".
std::string layout_words(const Layout& layout, const Array& array, const profile::Object& object);

/// What `loopfold layout generate` reads: "map(inout: A(i,j) -> (j, i) : double[100, 120])". Empty if the source does
/// not say enough about the array.
std::string layout_directive(const Layout& layout, const Array& array, const profile::Object& object, bool stored);

}  // namespace loopfold::advise
