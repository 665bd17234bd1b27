// Numbers for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace loopfold {

/// 1234567 -> "1.23 M"; 999 -> "999".
std::string short_count(std::uint64_t count);
/// 1234567 -> "1.23 MB".
std::string short_bytes(std::uint64_t bytes);

/// "1 dependence", "2 dependences".
std::string counted(std::uint64_t count, std::string_view noun);

/// "250", "250k", "1.5M", "2G" (powers of 1000), with an optional B at the end. Nothing if it is not a number like
/// that.
std::optional<std::uint64_t> parse_count(const std::string& text);

}  // namespace loopfold
