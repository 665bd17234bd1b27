#include "structure/function_facts.h"

#include <functional>
#include <string>

namespace loopfold::structure {

FunctionFacts function_facts(symbols::Symbolizer& symbolizer) {
  FunctionFacts facts;
  facts.is_start = [&symbolizer](std::uint64_t address) { return symbolizer.is_function_start(address); };
  facts.function_of = [&symbolizer](std::uint64_t address) { return symbolizer.function_of(address); };
  facts.line_of = [&symbolizer](std::uint64_t address) -> std::uint64_t {
    const symbols::Location& location = symbolizer.locate(address);
    if (location.file.empty() || location.line == 0) return 0;
    return (std::hash<std::string>{}(location.file) << 24 ^ static_cast<std::uint64_t>(location.line)) | 1;
  };
  return facts;
}

}  // namespace loopfold::structure
