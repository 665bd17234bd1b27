// Numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace loopfold {

/// 1234567 -> "1.23 M"; 999 -> "999".
std::string short_count(std::uint64_t count);
/// 1234567 -> "1.23 MB".
std::string short_bytes(std::uint64_t bytes);

}  // namespace loopfold
