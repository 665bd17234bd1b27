// isl's types that layouts need and nobody else.
#pragma once

#include <isl/local_space.h>

#include "poly/isl.h"

namespace loopfold::poly {

template <>
struct IslType<isl_local_space> {
  static isl_local_space* copy(isl_local_space* p) { return isl_local_space_copy(p); }
  static void free(isl_local_space* p) { isl_local_space_free(p); }
};

}  // namespace loopfold::poly
