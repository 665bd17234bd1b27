// What symbols and unwind tables say about where functions start, for the code map.
#pragma once

#include "structure/code_map.h"
#include "symbols/symbolizer.h"

namespace loopfold::structure {

/// `symbolizer` must outlive the result.
FunctionFacts function_facts(symbols::Symbolizer& symbolizer);

}  // namespace loopfold::structure
