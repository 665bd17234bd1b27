// Sets and maps of isl as relations of OpenScop: matrices with one row per constraint.
//
// Columns are: 0 for an equation and 1 for an inequality (>= 0), the output dimensions, the input dimensions, local
// (existentially quantified) ones, and the constant. A union is its number of parts and then the parts. Exact: the
// integer points are the same. A relation without points has one part with the constraint -1 >= 0.
#pragma once

#include <string>

#include "poly/isl.h"

namespace loopfold::views {

/// `outputs` first dimensions of the set are output dimensions, the others input dimensions. Empty text: isl failed.
std::string openscop_relation(const char* kind, poly::Isl<isl_set> set, unsigned outputs);

/// The map's range are the output dimensions.
std::string openscop_relation(const char* kind, poly::Isl<isl_map> map);

}  // namespace loopfold::views
