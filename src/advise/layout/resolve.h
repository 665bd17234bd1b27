// Directives with everything that the compiler knows about their arrays: Φ's with real element types, known sizes, and
// a check that what the directive says of an array is what its declaration says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advise/layout/directive.h"
#include "advise/layout/phi.h"
#include "advise/layout/region.h"
#include "support/result.h"

namespace loopfold::layout {

struct Resolved {
  const Directive* directive = nullptr;
  std::vector<Phi> phis;            // as the directive's maps
  std::vector<RegionArray> arrays;  // the same
  Known known;
  std::vector<std::string> assumed;  // "n <= 300: A is declared with 300"
};

/// One for each directive. An Error names the first array, size or type that is unknown or does not match.
Result<std::vector<Resolved>> resolve(const std::string& file, std::string_view text,
                                      const std::vector<const Directive*>& directives,
                                      const std::vector<std::string>& compiler);

}  // namespace loopfold::layout
