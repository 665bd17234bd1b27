// Names as people write them: symbol versions off, C++ and Rust names demangled. Internal to src/symbols.
#pragma once

#include <string>
#include <string_view>

namespace loopfold::symbols {

/// `name` without its symbol version (memcpy@@GLIBC_2.14), demangled if it is mangled.
std::string readable_name(std::string_view name);

/// A part that the compiler moved out of a function because it is rarely run: `sum.cold`, `sum.part.0.cold.1`.
bool is_cold_part(std::string_view name);

/// The function that a cold part was moved out of: `sum` for `sum.cold`.
std::string_view owner_of_cold_part(std::string_view name);

/// What follows the last slash.
std::string base_name(std::string_view path);

}  // namespace loopfold::symbols
