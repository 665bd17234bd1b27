// A loop of one block that runs ten times: what tests of single rules look at.
#pragma once

#include <cstdint>

#include "poly/control_testing.h"

namespace loopfold::poly::testing {

inline constexpr std::uint64_t kMain = 0x1000;
inline constexpr std::uint64_t kIterations = 10;

inline structure::testing::Story one_loop() {
  structure::testing::Script script;
  script.start(kMain);
  for (std::uint64_t i = 0; i < kIterations; ++i) script.jump(kMain + 8);
  script.jump(kMain + 16);
  script.jump(kMain + 24);
  return script.finish();
}

}  // namespace loopfold::poly::testing
