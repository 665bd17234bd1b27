// A block execution on its way into a trace.
#pragma once

#include <cstdint>

#include "trace/types.h"

namespace loopfold::trace {

/// Its exit, and as many slots as that has.
struct BlockEvent {
  ExitId exit = 0;
  std::uint32_t count = 0;
  const std::uint64_t* slots = nullptr;
};

}  // namespace loopfold::trace
