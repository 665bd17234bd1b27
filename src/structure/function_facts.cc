#include "structure/function_facts.h"

namespace loopfold::structure {

FunctionFacts function_facts(symbols::Symbolizer& symbolizer) {
  FunctionFacts facts;
  facts.is_start = [&symbolizer](std::uint64_t address) {
    const symbols::Location& location = symbolizer.locate(address);
    return !location.function.empty() && location.offset == 0;
  };
  facts.function_of = [&symbolizer](std::uint64_t address) {
    const symbols::Location& location = symbolizer.locate(address);
    return location.function.empty() ? 0 : address - location.offset;
  };
  return facts;
}

}  // namespace loopfold::structure
