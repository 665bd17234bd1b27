// An isl function of the program's sizes, as C.
//
// Lengths of dimensions come from isl as piecewise quasi-affine functions (the greatest value of e1 % 32 is 31, or
// n - 1 if that is less). isl makes an expression tree of one, choosing between divisions that round down and those
// that need not, from what is known of the sizes; this file writes it with the names that the generated code uses.
// Exact for the sizes in `context`; every operand is written as often as it occurs, and nothing has side effects.
#pragma once

#include <functional>
#include <string>

#include "poly/isl.h"
#include "support/result.h"

namespace loopfold::layout {

using NameInC = std::function<std::string(const std::string&)>;

/// An Error if isl gave up.
Result<std::string> c_expression(const poly::Isl<isl_pw_aff>& function, const poly::Isl<isl_set>& context,
                                 const NameInC& name);

}  // namespace loopfold::layout
