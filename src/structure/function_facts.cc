#include "structure/function_facts.h"

namespace loopfold::structure {

FunctionFacts function_facts(symbols::Symbolizer& symbolizer) {
  FunctionFacts facts;
  facts.is_start = [&symbolizer](std::uint64_t address) { return symbolizer.is_function_start(address); };
  facts.function_of = [&symbolizer](std::uint64_t address) { return symbolizer.function_of(address); };
  return facts;
}

}  // namespace loopfold::structure
