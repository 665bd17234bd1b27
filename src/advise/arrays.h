// Arrays from addresses: the shape of an object, as the run used it.
//
// A binary knows objects and strides, no arrays. A global's type says its shape, if all accesses keep to its rows. Of
// other objects it is found from the strides of all accesses to them: a stride is that of a dimension if, for every access, the loops with smaller strides
// together stay within it; the extents follow, the outermost one from the object's size. If all strides are multiples
// of something larger than the accesses, elements are structures, and the offsets within one are its fields. Objects of
// many blocks that an access walks from block to block are rows of their own.
//
// What cannot be seen is assumed, and said: that the outermost extent is the whole object; that elements which no
// access touches are there. An object with an access that is not affine has no shape here. Linear in the accesses,
// times the strides of an object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace loopfold::advise {

struct ArrayDimension {
  std::int64_t stride = 0;  // bytes
  std::uint64_t extent = 0;
  friend bool operator==(const ArrayDimension&, const ArrayDimension&) = default;
};

struct ArrayField {
  std::int64_t offset = 0;  // in the element
  std::uint64_t size = 0;
  std::uint64_t accesses = 0;
  friend bool operator==(const ArrayField&, const ArrayField&) = default;
};

struct Array {
  std::uint32_t object = 0;
  std::int64_t element = 0;                // bytes
  std::vector<ArrayDimension> dimensions;  // outermost first; without the blocks
  std::vector<ArrayField> fields;          // by offset
  std::uint64_t blocks = 1;                // more than one: rows that are blocks of their own, the outermost dimension
  std::uint64_t accesses = 0;              // to it, of the run
  std::vector<std::string> assumes;
  std::string problem;  // not empty: it has no shape, because

  bool is_structure() const {
    return fields.size() > 1 || (fields.size() == 1 && element > std::int64_t(fields[0].size));
  }
};

/// By object of the profile.
std::vector<Array> find_arrays(const profile::Profile& profile);

/// What one step along a coordinate adds to each subscript: the blocks first if there are several, then the dimensions.
/// Empty: it cannot be told.
std::vector<std::int64_t> subscript_steps(const Array& array, std::int64_t bytes, std::int64_t blocks);

/// "A[300][120] of 8 bytes".
std::string array_text(const Array& array, const profile::Object& object);

}  // namespace loopfold::advise
