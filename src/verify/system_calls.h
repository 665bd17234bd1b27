// Which system calls the world outside can notice: whether, and in which order, they happened.
//
// Those that only manage the process's own memory, threads and signals, or that ask for what does not change, are not
// noticed. Everything else is, and so are numbers that are not known.
#pragma once

#include <cstdint>

namespace loopfold::verify {

bool is_noticed_outside(std::uint32_t number);

}  // namespace loopfold::verify
